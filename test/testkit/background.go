package testkit

import (
	"bytes"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// Background is a program that runs beside the test, with its output.
type Background struct {
	*exec.Cmd
	Began    time.Time
	Out, Err bytes.Buffer  // complete when Over is closed
	Over     chan struct{} // closed when the program has ended and is reaped
}

// InBackground starts a program and reaps it when it ends. When the test ends, the program
// is killed.
func InBackground(t testing.TB, cmd *exec.Cmd) *Background {
	t.Helper()
	b := &Background{Cmd: cmd, Over: make(chan struct{})}
	b.Stdout, b.Stderr = &b.Out, &b.Err
	b.WaitDelay = time.Second // processes that are left behind may hold its output
	b.Began = time.Now()
	if err := b.Start(); err != nil {
		t.Fatalf("start %s: %v", cmd.Path, err)
	}
	go func() { b.Wait(); close(b.Over) }()
	t.Cleanup(func() { b.Process.Kill(); <-b.Over })
	return b
}

// Ended reports whether the program has ended.
func (b *Background) Ended() bool {
	select {
	case <-b.Over:
		return true
	default:
		return false
	}
}

// Ends waits for the end of the program. One that takes too long fails the test: a Go
// program shows where its goroutines are, and is then killed.
func (b *Background) Ends(t testing.TB, within time.Duration) {
	t.Helper()
	select {
	case <-b.Over:
		return
	case <-time.After(within):
	}
	b.Process.Signal(syscall.SIGQUIT)
	select {
	case <-b.Over:
	case <-time.After(2 * time.Second):
		b.Process.Kill()
		<-b.Over
	}
	t.Errorf("it had not ended after %v, and was killed:\n%s", within, &b.Err)
}
