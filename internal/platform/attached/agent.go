package attached

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform"
)

// agent is an agent's process, reached by its standard streams.
type agent struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	exited chan struct{}

	once sync.Once
	err  error
}

func startAgent(program string, index int, note func(string)) (*agent, error) {
	cmd := exec.Command(program)
	endWithUs(cmd)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	said, err3 := cmd.StderrPipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, fmt.Errorf("start an agent: %w", err)
	}
	if err := start(cmd); err != nil {
		return nil, fmt.Errorf("start an agent: %w", err)
	}
	a := &agent{cmd: cmd, in: in, out: out, exited: make(chan struct{})}
	listened := make(chan struct{})
	go func() {
		defer close(listened)
		defer said.Close()
		for lines := bufio.NewReader(said); ; {
			line, err := lines.ReadString('\n')
			if line = strings.TrimSpace(line); line != "" {
				note(fmt.Sprintf("agent %d: %s", index, line))
			}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		<-listened // its last output first
		cmd.Process.Wait()
		close(a.exited)
	}()
	return a, nil
}

// start starts a command from a new goroutine: the kernel sends the parent-death signal
// when the thread that forked ends, and Go ends a thread with the goroutine that was
// locked to it, as the caller may be.
func start(cmd *exec.Cmd) error {
	started := make(chan error, 1)
	go func() { started <- cmd.Start() }()
	return <-started
}

func (a *agent) Read(b []byte) (int, error)  { return a.out.Read(b) }
func (a *agent) Write(b []byte) (int, error) { return a.in.Write(b) }

// Counters are those of the process: it has no control group of its own.
func (a *agent) Counters() (signals.Counters, error) { return processCounters(a.cmd.Process.Pid) }

// Close closes the agent's input, so that it exits. An agent that does not exit within
// the grace time is killed.
func (a *agent) Close() error {
	a.once.Do(func() {
		err := a.in.Close()
		timer := time.NewTimer(platform.StopGrace)
		defer timer.Stop()
		select {
		case <-a.exited:
		case <-timer.C:
			if killErr := a.cmd.Process.Kill(); !errors.Is(killErr, os.ErrProcessDone) { // it ended meanwhile
				err = errors.Join(err, killErr)
			}
			<-a.exited
		}
		a.err = errors.Join(err, a.out.Close())
	})
	return a.err
}
