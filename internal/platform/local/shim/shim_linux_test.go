package shim

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
)

const helper = "__helper"

func TestMain(m *testing.M) {
	Main(os.Args)
	if len(os.Args) > 2 && os.Args[1] == helper {
		os.Stdout.WriteString(strings.Join(append(os.Args[2:], os.Environ()...), "\n"))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestBecomesTheCommand(t *testing.T) {
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	big := "BIG=" + strings.Repeat("x", 100<<10) // more than a pipe holds
	cmd, err := Start(Command{
		Dir: "/", Path: "/proc/self/exe", Args: []string{"name", helper, "a b", ""}, Env: []string{"GODEBUG=bad", "X=1", big},
	}, nil, in, nil)
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
	said, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if want := "a b\n\nGODEBUG=bad\nX=1\n" + big; string(said) != want {
		t.Errorf("it said %.80q, want %.80q", said, want)
	}
}

func TestCannotBecomeTheCommand(t *testing.T) {
	for _, test := range []struct {
		name    string
		command Command
		want    error
		words   string
	}{
		{"no such group", Command{Joins: []string{"/nonexistent/cgroup.procs"}, Path: "/proc/self/exe"}, fs.ErrNotExist, "join the control group /nonexistent:"},
		{"no such folder", Command{Dir: "/nonexistent", Path: "/proc/self/exe"}, fs.ErrNotExist, "enter the folder /nonexistent"},
		{"no such program", Command{Path: "/nonexistent"}, fs.ErrNotExist, "run /nonexistent"},
		{"not executable", Command{Path: "/proc/self/status"}, fs.ErrPermission, "chmod +x"},
		{"a line too long", Command{Path: "/proc/self/exe", Env: []string{strings.Repeat("x", 1<<20)}}, syscall.E2BIG, "run /proc/self/exe"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.command.Args = []string{"x"}
			_, err := Start(test.command, nil, nil, nil)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.words) {
				t.Errorf("error %v, want %v, with the words %q", err, test.want, test.words)
			}
		})
	}
}

func TestMainReturnsInAnyOtherProgram(t *testing.T) {
	for _, args := range [][]string{{"millicore"}, {"millicore", "run"}, {"millicore", "run", Word}} {
		Main(args)
	}
}
