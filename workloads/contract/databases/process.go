package databases

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	lab "github.com/millicore/millicore/internal/platform"
)

// process is a unit of one process, or the place of one that is stopped. It is
// its own and only replica.
type process struct {
	lab.Replica // what tests need no more: nil
	unit        lab.UnitSpec
	address     string
	command     *exec.Cmd     // nil while it is stopped
	gone        chan struct{} // closed when the process of command is
	said        *bytes.Buffer // to be read when it is gone
}

// Replicas implements platform.Unit.
func (p *process) Replicas() []lab.Replica { return []lab.Replica{p} }

// Address implements platform.Replica.
func (p *process) Address() string { return p.address }

// start starts the process, if it does not run, and returns when it serves. On
// an error nothing of it is left.
func (p *process) start(ctx context.Context) error {
	if p.command != nil {
		return nil
	}
	command, err := p.prepare()
	if err != nil {
		return err
	}
	p.said = new(bytes.Buffer)
	command.Stdout, command.Stderr = p.said, p.said
	if err := command.Start(); err != nil {
		return err
	}
	gone := make(chan struct{})
	go func() {
		_ = command.Wait() // how it ended is in what it said
		close(gone)
	}()
	p.command, p.gone = command, gone
	for {
		err := p.unit.Serves(ctx, p.address)
		if err == nil {
			return nil
		}
		select {
		case <-gone:
			p.command = nil
			return fmt.Errorf("%s ended: %s", p.unit.Command[0], p.said)
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s does not serve: %w", p.unit.Command[0], err), p.Stop(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// prepare makes the command of the unit with its address in it.
func (p *process) prepare() (*exec.Cmd, error) {
	host, port, err := net.SplitHostPort(p.address)
	if err != nil {
		return nil, err
	}
	vars := map[string]string{"host": host, "port": port}
	words := slices.Clone(p.unit.Command)
	for i := range words {
		if words[i], err = experiment.Expand(words[i], vars); err != nil {
			return nil, err
		}
	}
	command := exec.Command(words[0], words[1:]...)
	command.Dir = p.unit.Dir
	for _, line := range os.Environ() {
		if name, _, _ := strings.Cut(line, "="); !slices.Contains(p.unit.Unset, name) {
			command.Env = append(command.Env, line)
		}
	}
	for name, value := range p.unit.Env {
		if value, err = experiment.Expand(value, vars); err != nil {
			return nil, err
		}
		command.Env = append(command.Env, name+"="+value)
	}
	command.SysProcAttr = attributes()
	if u := p.unit.User; u != nil {
		command.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID)}
	}
	return command, nil
}

// Stop implements platform.Unit: it ends the process, paused or not, and
// returns when it is gone.
func (p *process) Stop(context.Context) error {
	if p.command == nil {
		return nil
	}
	sig := p.unit.StopSignal
	if sig == 0 {
		sig = syscall.SIGTERM
	}
	// The process may have ended by itself.
	_ = p.command.Process.Signal(sig)
	if err := resume(p); err != nil {
		return err
	}
	select {
	case <-p.gone:
		p.command = nil
		return nil
	case <-time.After(patience):
		_ = p.command.Process.Kill()
		<-p.gone
		p.command = nil
		return fmt.Errorf("%s did not end within %v of %v: %s", p.unit.Command[0], patience, sig, p.said)
	}
}

// pause stops a process and its children where they are: their connections stay,
// and the kernel takes further ones for them.
func pause(p *process) error { return p.signal(syscall.SIGSTOP) }

// resume lets a process go on after pause.
func resume(p *process) error { return p.signal(syscall.SIGCONT) }

// signal sends sig to the process and then to its children, of which one that is
// stopped makes no more.
func (p *process) signal(sig syscall.Signal) error {
	if p.command == nil {
		return nil
	}
	pid := p.command.Process.Pid
	if err := p.command.Process.Signal(sig); err != nil {
		if errors.Is(err, os.ErrProcessDone) {
			return nil
		}
		return fmt.Errorf("send %v to %s: %w", sig, p.unit.Command[0], err)
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	if err != nil {
		if errors.Is(err, os.ErrNotExist) && sig == syscall.SIGCONT {
			return nil // it has ended, or it never had a pause on this system
		}
		return fmt.Errorf("find the children of %s: %w", p.unit.Command[0], err)
	}
	for _, child := range strings.Fields(string(children)) {
		id, err := strconv.Atoi(child)
		if err != nil {
			return fmt.Errorf("find the children of %s: %w", p.unit.Command[0], err)
		}
		_ = syscall.Kill(id, sig) // it may have ended by itself
	}
	return nil
}
