package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/guard"
	"github.com/millicore/millicore/internal/platform/local/group"
	"github.com/millicore/millicore/internal/platform/local/shim"
	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/internal/platform/ports"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// replica is a process of a unit with its group. It stays the same over restarts of
// the process.
type replica struct {
	name      string // the unit's
	port      int    // assigned, or fixed
	insists   bool   // the port is fixed
	find      bool   // the port must be found
	address   string // "" until it is ready if the port must be found
	command   shim.Command
	invoker   string // as of its runner
	ready     experiment.Ready
	serves    func(context.Context, string) error // as in platform.UnitSpec
	signal    syscall.Signal                      // that stops it
	group     *group.Group
	run       *group.Run
	processes guard.Processes
	meter     *meter.Meter
	samples   *meter.ThrottleReader
	keeper    supervise.Keeper[*process]
	halt      supervise.Halt
	workers   supervise.Workers
	threads   meter.Threads

	mu     sync.Mutex
	memory int64 // limit in bytes; 0: none
	pids   int   // limit of processes and threads
	leader int   // pid of the process that was started last
}

// process is a replica from one start to its end.
type process struct {
	began  time.Time
	kills  int64 // OOM kills in the group before
	exited chan struct{}
	state  *os.ProcessState // once exited is closed
	ran    time.Duration    // likewise
}

func (p *process) Ended() <-chan struct{} { return p.exited }
func (p *process) Ran() time.Duration     { return p.ran }

// Address is the address on which the replica listens.
func (r *replica) Address() string { return r.address }

// loopbackAt is the loopback address of a port.
func loopbackAt(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// Counters reads the running totals.
func (r *replica) Counters() (signals.Counters, error) {
	c, err := r.keeper.Status.Counters(r.meter.Counters())
	if err != nil {
		return c, err
	}
	all := r.PIDs()
	if c.CPU != nil {
		c.Stopped = r.halt.Halted(*c.CPU, all)
	}
	c.ProcessesEnded, c.Threads = r.workers.Ended(all), r.threads.Read(all)
	meter.ReadAccepts(&c, r.address)
	return c, nil
}

// ThrottleSample reads the throttling of the replica, and whether it is up.
func (r *replica) ThrottleSample() (signals.ThrottleSample, error) {
	return r.keeper.Status.ThrottleSample(r.samples.ThrottleSample())
}

// LastEnd describes the last end of its process. See platform.EndReporter.
func (r *replica) LastEnd() (how, output string) { return r.keeper.LastEnd() }

// LogDropped is how many bytes of its output are not in its log.
func (r *replica) LogDropped() int64 { return r.keeper.Log.Dropped() }

// PIDs are the processes in the replica's group: first the one that was started, if it
// still runs, then the others.
func (r *replica) PIDs() []int {
	all, err := r.group.PIDs()
	if err != nil {
		return nil
	}
	r.mu.Lock()
	leader := r.leader
	r.mu.Unlock()
	return supervise.LeaderFirst(all, leader)
}

// launch starts the process.
func (r *replica) launch(context.Context) (*process, error) {
	p := &process{kills: r.meter.OOMKills(), exited: make(chan struct{})}
	cmd, err := r.start(nil, r.keeper.Log.File, r.keeper.Log.File)
	if err != nil {
		return nil, err
	}
	p.began = time.Now()
	r.mu.Lock()
	r.leader = cmd.Process.Pid
	r.mu.Unlock()
	go p.wait(cmd)
	return p, nil
}

func (p *process) wait(cmd *exec.Cmd) {
	cmd.Wait() // how it ended is in the state
	p.state = cmd.ProcessState
	p.ran = time.Since(p.began)
	close(p.exited)
}

// awaitReady waits until the process serves. See supervise.Keeper.UntilServing.
func (r *replica) awaitReady(ctx context.Context, p *process) error {
	every, look := r.looking()
	return r.keeper.UntilServing(ctx, p, &r.address, func(ctx context.Context) (string, error) {
		return supervise.AwaitProbe(ctx, every, look)
	})
}

// clean kills what a process left, as if a container's process 1 had ended.
func (r *replica) clean(*process) {
	if err := r.group.Kill(); err != nil {
		r.keeper.Log.Note("%v", err)
	}
}

// ending describes how a process ended.
func (r *replica) ending(p *process) string {
	if p.state == nil {
		return "it ended; how is not known"
	}
	status, _ := p.state.Sys().(syscall.WaitStatus)
	if status.Signaled() && status.Signal() == syscall.SIGKILL && r.meter.OOMKills() > p.kills {
		r.mu.Lock()
		defer r.mu.Unlock()
		return meter.OutOfMemory(r.memory)
	}
	if status.Signaled() {
		return fmt.Sprintf("it was ended by signal %d (%v)", status.Signal(), status.Signal())
	}
	ended := fmt.Sprintf("it ended with exit status %d", status.ExitStatus())
	if refused := r.refused(); status.ExitStatus() != 0 && refused != "" {
		return ended + "; " + refused
	}
	if status.ExitStatus() != 0 {
		return ended
	}
	if left := r.left(); left != "" {
		return ended + " and left " + left + " running in the background; " + foreground(r.command.Path)
	}
	return ended
}

// refused describes that the replica reached its limit of processes and threads; "" if it
// did not.
func (r *replica) refused() string {
	n := r.group.RefusedPIDs()
	if n == 0 {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("the kernel refused it a process or a thread %d times, at its limit of %d (limits.pids)", n, r.pids)
}

// left names the processes that remain in the group after SettleTime; "" if there are
// none.
func (r *replica) left() string {
	for deadline := time.Now().Add(supervise.SettleTime); ; time.Sleep(5 * time.Millisecond) {
		pids := r.PIDs()
		if len(pids) == 0 {
			return ""
		}
		if time.Now().Before(deadline) {
			continue
		}
		name := fmt.Sprintf("%s (pid %d)", ports.NameOf(pids[0]), pids[0])
		if n := len(pids) - 1; n > 0 {
			name += fmt.Sprintf(" and %d more", n)
		}
		return name
	}
}

// end stops the replica and removes its group: with the stop signal to every process,
// and with KILL when the grace time or ctx is over.
func (r *replica) end(ctx context.Context) error {
	r.keeper.Stop()
	if err := r.group.Signal(r.signal); err != nil {
		r.keeper.Log.Note("%v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, platform.StopGrace)
	defer cancel()
	for {
		empty, err := r.group.Empty()
		if err != nil || empty {
			break
		}
		if !supervise.Sleep(ctx, 5*time.Millisecond) {
			r.keeper.Log.Note("some processes did not end within the grace period after %s; killing them", unix.SignalName(r.signal))
			break
		}
	}
	return errors.Join(r.meter.Close(), r.samples.Close(), r.group.Remove(), r.killEscaped(), r.released(), r.keeper.Log.Close())
}

// released checks that no process listens any more on a fixed port, which the next
// trial needs again.
func (r *replica) released() error {
	if !r.insists {
		return nil
	}
	for deadline := time.Now().Add(platform.StopGrace); ; time.Sleep(5 * time.Millisecond) {
		holder, err := ports.Holder(r.port)
		if err != nil || holder == "" {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s still listens on port %d after the service has stopped; end it before the next trial", holder, r.port)
		}
	}
}
