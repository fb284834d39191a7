package testkit

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"
)

// StartTied starts a program as Start does. The kernel kills it also if this process ends
// without its cleanups, as one that is killed: for tests of hours, which people interrupt. Its
// own children are not tied, and no program that changes its user (man 2 PR_SET_PDEATHSIG): in a
// group they are killed when the next test makes one.
func StartTied(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	start(t, cmd, func() error { return startTied(cmd) })
}

// RunTied runs a program that ends as one of StartTied does.
func RunTied(cmd *exec.Cmd) error {
	if err := startTied(cmd); err != nil {
		return err
	}
	return cmd.Wait()
}

func startTied(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	failed := make(chan error)
	starter() <- func() { failed <- cmd.Start() }
	return <-failed
}

// starter starts programs on a thread that lives as long as this process: the kernel sends the
// signal when the thread ends that started the program (man 2 PR_SET_PDEATHSIG).
var starter = sync.OnceValue(func() chan<- func() {
	starts := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range starts {
			start()
		}
	}()
	return starts
})
