package launch

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/kubernetes/conductor"
)

// packed is a tar of files by name, in pairs with their text.
func packed(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	out := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: files[i], Size: int64(len(files[i+1])), Mode: 0o777}); err != nil {
			t.Fatal(err)
		}
		io.WriteString(out, files[i+1])
	}
	if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: conductor.EndMark, Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	out.Close()
	return b.Bytes()
}

// tree is what is in a folder, by path.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A record is there whole or not at all: a connection that breaks is made again.
func TestFetching(t *testing.T) {
	whole := packed(t, "run.json", "{}", "logs/go-0.log", "said")
	f := newFollowed(t)
	usual := f.cluster.answer
	var tries atomic.Int64
	f.cluster.answer = func(w http.ResponseWriter, r *http.Request, body map[string]any) bool {
		if !strings.HasSuffix(r.URL.Path, "/pods/https:one:7443/proxy/record") {
			return usual(w, r, body)
		}
		switch tries.Add(1) {
		case 1:
			return refuse(w, 502, "", "")
		case 2:
			w.Write(whole[:700])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		w.Write(whole)
		return true
	}
	parent := t.TempDir()
	dir := filepath.Join(parent, "runs", "mine")
	if err := f.follower.Fetch(t.Context(), "one", dir); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{"runs/mine/run.json": "{}", "runs/mine/logs/go-0.log": "said"}, tree(t, parent)); d != "" {
		t.Error(d)
	}
	if info, err := os.Stat(filepath.Join(dir, "run.json")); err != nil || info.Mode().Perm()&0o111 != 0 {
		t.Errorf("run.json has the mode %v, %v", info.Mode(), err)
	}
	if err := f.follower.Fetch(t.Context(), "one", dir); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("error %v, want that a record is never written over", err)
	}
}

func TestWhatCannotBeFetched(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer func(w http.ResponseWriter)
		is     error
		want   string
	}{
		{"no record", func(w http.ResponseWriter) { http.Error(w, "there is no record yet", 404) }, ErrNoRecord, "the run has no record"},
		{"another folder", func(w http.ResponseWriter) { w.Write(packed(t, "frames.ndjson", "")) }, nil, "there is no run.json in it"},
		{"outside", func(w http.ResponseWriter) { w.Write(packed(t, "run.json", "", "../x", "")) }, nil, `"../x" in it lies outside of it`},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFollowed(t)
			usual := f.cluster.answer
			f.cluster.answer = func(w http.ResponseWriter, r *http.Request, body map[string]any) bool {
				if strings.HasSuffix(r.URL.Path, "/record") {
					test.answer(w)
					return true
				}
				return usual(w, r, body)
			}
			parent := t.TempDir()
			err := f.follower.Fetch(t.Context(), "one", filepath.Join(parent, "mine"))
			if err == nil || test.is != nil && !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if left := tree(t, parent); len(left) > 0 {
				t.Errorf("there is %v", left)
			}
		})
	}
}

func TestUnpackingWhatIsNoRecord(t *testing.T) {
	special := func(kind byte, name, link string) []byte {
		var b bytes.Buffer
		out := tar.NewWriter(&b)
		out.WriteHeader(&tar.Header{Typeflag: kind, Name: name, Linkname: link})
		out.Close()
		return b.Bytes()
	}
	for name, text := range map[string][]byte{
		"absolute": packed(t, "/etc/x", ""), "up": packed(t, "a/../../x", ""), "itself": packed(t, "./.", ""), "twice": packed(t, "a", "1", "a", "2"),
		"below a file":  packed(t, "a", "", "a/b", ""),
		"symbolic link": special(tar.TypeSymlink, "a", "/etc"), "link": special(tar.TypeLink, "a", "b"), "device": special(tar.TypeChar, "a", ""),
		"pipe": special(tar.TypeFifo, "a", ""),
	} {
		var bad *badRecord
		if err := unpack(bytes.NewReader(text), t.TempDir()); !errors.As(err, &bad) {
			t.Errorf("%s: error %v, want that it is refused", name, err)
		}
	}
	// A tar is whole for its reader wherever a file ends.
	whole := packed(t, "run.json", "{}", "frames.ndjson", "")
	if err := unpack(bytes.NewReader(whole[:1024]), t.TempDir()); err == nil || !strings.Contains(err.Error(), "it breaks off") {
		t.Errorf("a tar that breaks off between two files: %v", err)
	}
	if err := unpack(strings.NewReader("not a tar, but long enough to be read as the head of one"), t.TempDir()); err == nil {
		t.Error("no error of what is no tar")
	}
}

// Whatever the cluster answers, nothing is written outside of the folder.
func FuzzUnpack(f *testing.F) {
	f.Add(packed(f, "run.json", "{}", "logs/a", "b"))
	f.Add(packed(f, "../x", "y"))
	f.Fuzz(func(t *testing.T, text []byte) {
		parent := t.TempDir()
		dir := filepath.Join(parent, "in")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		_ = unpack(bytes.NewReader(text), dir)
		entries, err := os.ReadDir(parent)
		if err != nil || len(entries) != 1 {
			t.Errorf("%v, %v beside the folder", entries, err)
		}
		for name := range tree(t, dir) {
			if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || !info.Mode().IsRegular() {
				t.Errorf("%s is %v, %v", name, info.Mode(), err)
			}
		}
	})
}
