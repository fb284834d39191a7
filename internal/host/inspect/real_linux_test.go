package inspect

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millicore/millicore/test/testkit"
)

// The tests here look at this machine, as it is.

// Processes that end while they are read leave no trace: neither an error, nor a
// process of which half was seen.
func TestRealProcessesThatEnd(t *testing.T) {
	shell, err := exec.LookPath("true")
	if err != nil {
		t.Skip("needs the program true")
	}
	var starting sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		starting.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_ = exec.Command(shell).Run()
				}
			}
		})
	}
	defer starting.Wait()
	defer close(done)
	s := New("")
	for range 20 {
		host, err := s.Scan(context.Background(), Only{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range host.Processes {
			if text := strings.Join(p.Unseen, "; "); strings.Contains(text, "no such") {
				t.Fatalf("process %d (%s), which has ended, is reported: %s", p.PID, p.Name, text)
			}
		}
	}
}

// A process that ended during the watch is reported with its last state, and without
// CPU time.
func TestRealProcessThatEndsInTheWatch(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	testkit.Start(t, cmd)
	s := New("")
	// The kernel reports that a program has started before it sets the process's name.
	testkit.Until(t, "the process has its name", func() bool {
		st, err := s.stat(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		return st.Name == "sleep"
	})
	s.sleep = func(context.Context, time.Duration) { testkit.Kill(cmd) }
	host, err := s.Scan(context.Background(), Only{PID: cmd.Process.Pid}, time.Second)
	if err != nil || len(host.Processes) != 1 || host.Processes[0].Name != "sleep" || host.Processes[0].Used != 0 {
		t.Errorf("got %+v, %v", host, err)
	}
}

func TestRealZombie(t *testing.T) {
	cmd := exec.Command("true")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip("needs the program true")
	}
	defer cmd.Wait()
	// It has closed its output, so it is about to end; nobody has waited for it.
	for one := make([]byte, 1); err == nil; {
		_, err = out.Read(one)
	}
	s := New("")
	for {
		st, err := s.stat(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		if st.Gone() {
			break
		}
	}
	_, err = s.Scan(context.Background(), Only{PID: cmd.Process.Pid}, 0)
	if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "it has ended, and its parent has not waited for it") {
		t.Errorf("got %v", err)
	}
	host, err := s.Scan(context.Background(), Only{}, 0)
	if err != nil || host.Zombies == 0 {
		t.Errorf("%d zombies, %v", host.Zombies, err)
	}
	for _, p := range host.Processes {
		if p.PID == cmd.Process.Pid {
			t.Errorf("a process that has ended is reported: %+v", p)
		}
	}
}

func TestRealKernelThreads(t *testing.T) {
	const kthreadd = 2
	s := New("")
	if st, err := s.stat(kthreadd); err != nil || !st.Kernel {
		t.Skip("no threads of the kernel are seen here: this is a container")
	}
	_, err := s.Scan(context.Background(), Only{PID: kthreadd}, 0)
	if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "a kernel thread") {
		t.Errorf("got %v", err)
	}
	host, err := s.Scan(context.Background(), Only{}, 0)
	if err != nil || host.KernelThreads == 0 {
		t.Errorf("%d threads of the kernel, %v", host.KernelThreads, err)
	}
	for _, p := range host.Processes {
		if p.Parent == kthreadd {
			t.Errorf("a kernel thread is reported: %+v", p)
		}
	}
}

// Root is not advised to run as root.
func TestAdvised(t *testing.T) {
	got := strings.Join(New("").advised([]string{unread("its environment", os.ErrPermission)}), "")
	if want := os.Geteuid() != 0; strings.Contains(got, "as root") != want || !strings.Contains(got, "permission denied") {
		t.Errorf("got %q", got)
	}
	if got := (&Scanner{root: "/copy"}).advised([]string{advice}); got[0] != advice {
		t.Errorf("of a copy: got %q", got)
	}
}
