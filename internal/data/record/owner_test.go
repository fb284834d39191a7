package record

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/base/safefile"
	"github.com/millicore/millicore/internal/data/experiment"
)

func written(t *testing.T, dir string) {
	t.Helper()
	w, err := Create(dir, Run{Version: Version, Experiment: &experiment.Experiment{Name: "x", Cells: []experiment.Cell{{
		Service: experiment.Service{Name: "go", Env: map[string]string{"TOKEN": "Mark3r-token"}}}}}, Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// each visits everything in a folder, and the folder.
func each(t *testing.T, dir string, visit func(path string, info fs.FileInfo)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		visit(path, info)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOnlyItsOwnerReadsARecord(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	there := filepath.Join(t.TempDir(), "there")
	if err := os.Mkdir(there, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(t.TempDir(), "runs", "x"), there} {
		written(t, dir)
		if err := ReplaceHlog(filepath.Join(dir, LatencyFile), &experiment.Experiment{}, time.Now(), func(*Hlog) error { return nil }); err != nil {
			t.Fatal(err)
		}
		w, err := Append(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		each(t, dir, func(path string, info fs.FileInfo) {
			want := FileMode
			if info.IsDir() {
				want = DirMode
			}
			if info.Mode().Perm() != want {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
		})
		text, err := os.ReadFile(filepath.Join(dir, RunFile))
		if err != nil || strings.Contains(string(text), "Mark3r") || !strings.Contains(string(text), `"TOKEN": "(redacted)"`) {
			t.Errorf("%v:\n%s", err, text)
		}
	}
}

func TestRecordGoesToTheUserOfSudo(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	const uid, gid = 65534, 65533
	dir := filepath.Join(t.TempDir(), "record")
	written(t, dir)
	t.Setenv("SUDO_UID", "65534")
	t.Setenv("SUDO_GID", "65533")
	outside := filepath.Join(t.TempDir(), "outside")
	if err := errors.Join(safefile.Replace(outside, nil, FileMode), os.Symlink(outside, filepath.Join(dir, LogsDir, "link")),
		safefile.Replace(filepath.Join(dir, SummaryFile), nil, FileMode)); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := HandOver(root); err != nil {
		t.Fatal(err)
	}
	each(t, dir, func(path string, info fs.FileInfo) {
		if own := info.Sys().(*syscall.Stat_t); own.Uid != uid || own.Gid != gid {
			t.Errorf("%s belongs to %d:%d", path, own.Uid, own.Gid)
		}
	})
	if err := safefile.Replace(filepath.Join(dir, ReportFile), nil, FileMode); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, ReportFile)); err != nil || info.Sys().(*syscall.Stat_t).Uid != uid {
		t.Errorf("what is written later belongs to %v, %v", info.Sys(), err)
	}
	if info, err := os.Stat(outside); err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 {
		t.Errorf("a link led outside: %v, %v", info.Sys(), err)
	}
}

func TestFolderOfAnotherIsNoRecord(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	dir := filepath.Join(t.TempDir(), "theirs")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Chown(dir, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	_, err := Create(dir, Run{Version: Version, Experiment: &experiment.Experiment{}})
	if err == nil || !strings.Contains(err.Error(), "belongs to user 65534") {
		t.Errorf("%v", err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("its mode was changed: %v, %v", info.Mode(), err)
	}
}
