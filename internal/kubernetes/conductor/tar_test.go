package conductor_test

import (
	"archive/tar"
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "github.com/millicore/millicore/internal/kubernetes/conductor"
	"github.com/millicore/millicore/internal/kubernetes/conductor/conductortest"
)

// unpack gives the files of a tar.
func unpack(t *testing.T, in io.Reader) map[string]string {
	t.Helper()
	files := map[string]string{}
	for r := tar.NewReader(in); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(text)
	}
}

func TestTheRecordIsServedAsItIs(t *testing.T) {
	dir := conductortest.Given(t)
	h := conductortest.Hub(t, dir)
	conductortest.Write(t, dir, "record/run.json", "{}\n")
	conductortest.Write(t, dir, "record/frames.ndjson", strings.Repeat("a frame\n", 10_000))
	conductortest.Write(t, dir, "record/logs/trial-001/go-0.log", "hello\n")
	conductortest.Write(t, dir, "record/.summary.json-123", "half")
	conductortest.Write(t, dir, "record/logs/.hidden/x", "no")
	if err := os.Symlink(filepath.Join(dir, TokenKeyFile), filepath.Join(dir, "record", "link")); err != nil {
		t.Fatal(err)
	}
	answer, body := get(t, h.Addr().String(), "/record", conductortest.Token)
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "application/x-tar" {
		t.Errorf("%s, %v", answer.Status, answer.Header)
	}
	want := map[string]string{"run.json": "{}\n", "frames.ndjson": strings.Repeat("a frame\n", 10_000), "logs/trial-001/go-0.log": "hello\n", EndMark: ""}
	if d := cmp.Diff(want, unpack(t, strings.NewReader(body))); d != "" {
		t.Error(d)
	}
}

// growing appends to a file whenever something is written to it.
type growing struct {
	bytes.Buffer
	file *os.File
}

func (g *growing) Write(b []byte) (int, error) {
	g.file.WriteString("one more frame\n")
	return g.Buffer.Write(b)
}

func TestAFileThatGrowsHasTheLengthThatItHad(t *testing.T) {
	dir := t.TempDir()
	conductortest.Write(t, dir, "frames.ndjson", "a frame\n")
	file, err := os.OpenFile(filepath.Join(dir, "frames.ndjson"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	out := &growing{file: file}
	if err := WriteTar(out, dir); err != nil {
		t.Fatal(err)
	}
	files := unpack(t, &out.Buffer)
	if _, whole := files[EndMark]; !whole {
		t.Error("it has no end")
	}
	if files["frames.ndjson"] != "a frame\n" {
		t.Errorf("%q, want what was there as it was its turn", files["frames.ndjson"])
	}
}
