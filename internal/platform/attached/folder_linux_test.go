package attached

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// With this variable set the test binary makes a folder and holds it until its input ends.
const holdFolder = "MILLICORE_TEST_HOLD_FOLDER"

func TestMain(m *testing.M) {
	if os.Getenv(holdFolder) == "" {
		os.Exit(m.Run())
	}
	f, err := NewFolder()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(f.Path)
	_, _ = bufio.NewReader(os.Stdin).ReadByte() // until it is killed
	os.Exit(0)
}

// held starts a process that holds a folder in TMPDIR, and returns both.
func held(t *testing.T, namespaces uintptr) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdFolder+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces, Pdeathsig: syscall.SIGKILL}
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); errors.Is(err, unix.EPERM) {
		t.Skip("no right to make a pid namespace")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the process made no folder")
	}
	return cmd, lines.Text()
}

func swept(t *testing.T) (removed []string, living []int) {
	t.Helper()
	removed, living, err := Sweep()
	if err != nil {
		t.Fatal(err)
	}
	return removed, living
}

func TestAFolderIsSweptWhenItsProcessHasEnded(t *testing.T) {
	for name, namespaces := range map[string]uintptr{"in this pid namespace": 0, "in another one": unix.CLONE_NEWPID} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			cmd, folder := held(t, namespaces)
			if removed, living := swept(t); len(removed) > 0 || len(living) != 1 {
				t.Fatalf("removed %v, living %v, while the process runs", removed, living)
			}
			if err := os.WriteFile(filepath.Join(folder, "record"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if removed, living := swept(t); !slices.Equal(removed, []string{folder}) || len(living) > 0 {
				t.Errorf("removed %v, living %v, want %s removed", removed, living, folder)
			}
		})
	}
}

func TestOnlyMarkedFoldersAreSwept(t *testing.T) {
	top := t.TempDir()
	t.Setenv("TMPDIR", top)
	made, err := NewFolder()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(made.Path, markFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Remove(); err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	for name, prepare := range map[string]func(dir string) error{
		"1-bare": func(dir string) error { return os.Mkdir(dir, 0o700) },
		"2-empty": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, markFile), nil, 0o600))
		},
		"3-copied": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, markFile), text, 0o600))
		},
		"4-pipe": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), syscall.Mkfifo(filepath.Join(dir, markFile), 0o600))
		},
		"5-link":     func(dir string) error { return os.Symlink(outside, dir) },
		"6-file":     func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"7-writable": func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777), marked(dir)) },
	} {
		if err := prepare(filepath.Join(top, folderPrefix+name)); err != nil {
			t.Fatal(err)
		}
	}
	if removed, living := swept(t); len(removed) > 0 || len(living) > 0 {
		t.Errorf("removed %v, living %v, want neither", removed, living)
	}
	if all, _ := filepath.Glob(filepath.Join(top, folderPrefix+"*")); len(all) != 7 {
		t.Errorf("%v are left, want all", all)
	}
}

// marked writes a valid mark, without a lock.
func marked(dir string) error {
	f := &Folder{Path: dir}
	if err := f.mark(); err != nil {
		return err
	}
	return f.lock.Close()
}

// A folder that is being made has no mark yet, and one with a mark is locked.
func TestAFolderIsLockedBeforeItIsMarked(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	over := make(chan struct{})
	var sweeping sync.WaitGroup
	sweeping.Go(func() {
		for {
			removed, _, _ := Sweep() // a folder may vanish while it is listed
			if len(removed) > 0 {
				t.Errorf("removed %v", removed)
			}
			select {
			case <-over:
				return
			default:
			}
		}
	})
	for range 500 {
		f, err := NewFolder()
		if err == nil {
			_, err = os.Stat(filepath.Join(f.Path, markFile))
			err = errors.Join(err, f.Remove())
		}
		if err != nil {
			t.Error(err)
			break
		}
	}
	close(over)
	sweeping.Wait()
}
