package local

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/local/group"
	"github.com/millicore/millicore/internal/platform/local/shim"
	"github.com/millicore/millicore/internal/platform/meter"
)

// agentProgram is the agent's file, beside this program's.
const agentProgram = "millicore-agent"

// agentWeight gives an agent priority over the measured service on the same CPU: a
// late request would be a delay of the agent, not of the service.
const agentWeight = 10

// agent is an agent's process. Read and Write use its standard output and input.
type agent struct {
	local  *local
	group  *group.Group
	meter  *meter.Meter
	in     *os.File
	out    *os.File
	pid    int
	exited chan struct{}

	once sync.Once
	err  error // of the one closing
}

func (l *local) startAgent(trial, index int) (*agent, error) {
	program, err := FindAgent(l.options.Agent)
	if err != nil {
		return nil, err
	}
	g, m, err := l.makeGroup(fmt.Sprintf("trial%03d-agent-%d", trial, index), experiment.Limits{}, agentWeight)
	if err != nil {
		return nil, err
	}
	a := &agent{local: l, group: g, meter: m, exited: make(chan struct{})}
	env, _ := inherited(os.Environ())
	err = a.start(shim.Command{Joins: g.Joins(), Path: program, Args: []string{agentProgram}, Env: env}, fmt.Sprintf("agent %d: ", index))
	if err == nil {
		if err = l.add(a); err == nil {
			return a, nil
		}
		return nil, errors.Join(err, a.Close())
	}
	return nil, errors.Join(err, m.Close(), g.Remove())
}

// start starts the process with pipes at its three streams.
func (a *agent) start(c shim.Command, prefix string) error {
	var theirs, ours [3]*os.File
	closeAll := func(files [3]*os.File) {
		for _, f := range files {
			f.Close() // also nil files, without effect
		}
	}
	var err error
	for i := range theirs {
		read, write, pipeErr := os.Pipe()
		theirs[i], ours[i] = write, read
		if i == 0 {
			theirs[i], ours[i] = read, write
		}
		err = errors.Join(err, pipeErr)
	}
	var cmd *exec.Cmd
	if err == nil {
		cmd, err = shim.Start(c, theirs[0], theirs[1], theirs[2])
	}
	closeAll(theirs)
	if err != nil {
		closeAll(ours)
		return err
	}
	a.in, a.out, a.pid = ours[0], ours[1], cmd.Process.Pid
	go a.listen(ours[2], prefix)
	go a.wait(cmd)
	return nil
}

// listen notes the standard error of the agent.
func (a *agent) listen(stderr *os.File, prefix string) {
	defer stderr.Close()
	for lines := bufio.NewReader(stderr); ; {
		line, err := lines.ReadString('\n')
		if line != "" {
			a.local.options.Note(prefix + strings.TrimRight(line, "\n"))
		}
		if err != nil {
			return
		}
	}
}

func (a *agent) wait(cmd *exec.Cmd) {
	cmd.Wait() // the lab detects the end of the stream
	close(a.exited)
}

// FindAgent finds the agent's file; named may be its path.
func FindAgent(named string) (string, error) {
	if named != "" {
		return findProgram(named, "", os.Getenv("PATH"))
	}
	self, err := os.Executable()
	if err == nil {
		beside := filepath.Join(filepath.Dir(self), agentProgram)
		if err = executable(beside); err == nil {
			return beside, nil
		}
	}
	found, pathErr := exec.LookPath(agentProgram)
	if pathErr == nil {
		return filepath.Abs(found)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is neither beside %s nor in PATH; build both with make build", agentProgram, self)
	}
	return "", err
}

func (a *agent) Read(b []byte) (int, error)  { return a.out.Read(b) }
func (a *agent) Write(b []byte) (int, error) { return a.in.Write(b) }

// Counters reads the agent's running totals.
func (a *agent) Counters() (signals.Counters, error) {
	c, err := a.meter.Counters()
	select {
	case <-a.exited:
	default:
		c.Up = err == nil
	}
	return c, err
}

// Stopped reports whether a signal holds the agent. See platform.StopReporter.
func (a *agent) Stopped() bool {
	select {
	case <-a.exited:
		return false
	default:
	}
	stat, err := proc.ReadStat(a.pid)
	return err == nil && stat.Held()
}

// Close closes the agent's input, so that it exits, and removes its group. An agent
// that does not exit within the grace time is killed.
func (a *agent) Close() error {
	a.once.Do(func() {
		inErr := a.in.Close()
		timer := time.NewTimer(platform.StopGrace)
		defer timer.Stop()
		select {
		case <-a.exited:
		case <-timer.C:
		}
		a.err = errors.Join(inErr, a.meter.Close(), a.group.Remove(), a.out.Close())
		a.local.drop(a)
	})
	return a.err
}

func (a *agent) end() error { return a.Close() }
