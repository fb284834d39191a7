package safefile

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/test/testkit"
)

const helper = "__make"

// TestMain is a program that makes a file and a folder, and waits.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == helper {
		f, err := TempFile(os.Args[2], ".file-")
		if err == nil {
			var path string
			if path, _, err = TempDir(os.Args[2], ".dir-"); err == nil {
				err = os.WriteFile(filepath.Join(path, "in"), nil, 0o600)
			}
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("made", f.Name())
		bufio.NewReader(os.Stdin).ReadByte()
	}
	os.Exit(m.Run())
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// What a living program makes stays; what a killed one left is removed, and nothing else.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	others := []string{".file-", ".file-1x", ".other-1", "file-1"}
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("file-1", filepath.Join(dir, ".file-2")); err != nil {
		t.Fatal(err)
	}
	others = names(t, dir)
	cmd := exec.Command("/proc/self/exe", helper, dir)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	testkit.StartReady(t, cmd, "made")
	SweepTemp(dir, ".file-", ".dir-")
	if got := len(names(t, dir)); got != len(others)+2 {
		t.Errorf("beside a living program: %q", names(t, dir))
	}
	testkit.Kill(cmd)
	SweepTemp(dir, ".file-", ".dir-")
	if d := cmp.Diff(others, names(t, dir)); d != "" {
		t.Errorf("after a killed program (-want +got):\n%s", d)
	}
}

// A file keeps its lock when it gets its final name, and a folder is removed with its
// content.
func TestTheEndOfATemporary(t *testing.T) {
	dir := t.TempDir()
	f, err := TempFile(dir, ".a-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	path, remove, err := TempDir(dir, ".b-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "in"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	remove()
	if d := cmp.Diff([]string{"a"}, names(t, dir)); d != "" {
		t.Error(d)
	}
}
