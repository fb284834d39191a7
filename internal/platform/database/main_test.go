package database

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/millicore/millicore/internal/platform/local"
)

func TestMain(m *testing.M) {
	local.Shim(os.Args)
	os.Exit(m.Run())
}

// reachable is a folder that the databases' users can enter.
func reachable(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// listing is what is in a folder: modes, owners and contents, by path.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		var content []byte
		if info.Mode().IsRegular() {
			if content, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		all[relative] = fmt.Sprint(info.Mode(), info.Sys().(*syscall.Stat_t).Uid, string(content))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
