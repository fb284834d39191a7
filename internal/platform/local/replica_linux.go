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

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/life"
	"github.com/millicore/millicore/internal/platform/local/group"
	"github.com/millicore/millicore/internal/platform/local/shim"
	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/internal/platform/ports"
	"github.com/millicore/millicore/internal/platform/ready"
	"github.com/millicore/millicore/internal/signals"
)

// replica is a process of a unit with its group. It stays the same when the
// process dies and is started again.
type replica struct {
	port    int    // that it was given, or insists on
	insists bool   // on port
	find    bool   // the port is to be found
	address string // where it is reached; with a port to be found "" until it is ready
	command shim.Command
	ready   experiment.Ready
	serves  func(context.Context, string) error // as in platform.Unit
	ending  syscall.Signal                      // asks it to end
	backoff life.Backoff
	group   *group.Group
	meter   *meter.Meter
	pulses  *meter.Pulser
	log     *life.Log

	stopping context.Context // ends when the replica is to stop
	stop     context.CancelFunc
	kept     chan struct{} // closed when nobody restarts it any more; nil before

	standing life.Standing

	mu     sync.Mutex
	memory int64 // limit in bytes; 0: none
	leader int   // pid of the process that was started last
}

// process is one life of a replica.
type process struct {
	began  time.Time
	kills  int64 // OOM kills in the group before
	exited chan struct{}
	state  *os.ProcessState // once exited is closed
	ran    time.Duration    // likewise
}

// Address is where the replica listens.
func (r *replica) Address() string { return r.address }

// loopbackAt is a port's address for those who were told it.
func loopbackAt(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// Counters reads the running totals.
func (r *replica) Counters() (signals.Counters, error) {
	return r.standing.Counters(r.meter.Counters())
}

// Pulse reads how the replica is throttled, and whether it is up.
func (r *replica) Pulse() (signals.Pulse, error) { return r.standing.Pulse(r.pulses.Pulse()) }

// PIDs are the processes in the replica's group: the one that was started, if it
// is still there, then its descendants.
func (r *replica) PIDs() []int {
	all, err := r.group.PIDs()
	if err != nil {
		return nil
	}
	r.mu.Lock()
	leader := r.leader
	r.mu.Unlock()
	return life.LeaderFirst(all, leader)
}

// launch starts the process.
func (r *replica) launch() (*process, error) {
	p := &process{kills: r.meter.OOMKills(), exited: make(chan struct{})}
	cmd, err := shim.Start(r.command, nil, r.log.File, r.log.File)
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

// awaitReady waits until the process serves. It returns life.ErrDied if the process
// ends first, and another error when ctx does.
func (r *replica) awaitReady(ctx context.Context, p *process) error {
	looking, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		address string
		err     error
	}
	answered := make(chan answer, 1)
	every, look := r.looking()
	go func() {
		address, err := ready.Await(looking, every, look)
		answered <- answer{address, err}
	}()
	var a answer
	select {
	case a = <-answered:
	case <-p.exited:
		return life.ErrDied
	}
	if a.err != nil {
		return a.err
	}
	if r.address == "" { // the first life; it stays the same
		r.address = a.address
		r.log.Note("it listens on %s", r.address)
	}
	return nil
}

// keep restarts the process whenever it dies, until the replica is to stop.
func (r *replica) keep(p *process) {
	defer close(r.kept)
	for {
		select {
		case <-r.stopping.Done():
			return
		case <-p.exited:
		}
		r.standing.SetUp(false)
		obituary := r.obituary(p)
		if err := r.group.Kill(); err != nil { // what it left, as with a container's process 1
			r.log.Note("%v", err)
		}
		wait := r.backoff.Next(p.ran)
		r.log.Note("%s; starting it again in %v", obituary, wait)
		if !life.Sleep(r.stopping, wait) {
			return
		}
		p = r.again()
	}
}

// again starts the process anew and waits until it serves. What comes back may
// be dead already.
func (r *replica) again() *process {
	r.standing.Restarted()
	p, err := r.launch()
	if err != nil {
		r.log.Note("%v", err)
		p = &process{exited: make(chan struct{})}
		close(p.exited)
		return p
	}
	if r.awaitReady(r.stopping, p) == nil {
		r.standing.SetUp(true)
	}
	return p
}

// obituary says how a process ended.
func (r *replica) obituary(p *process) string {
	if p.state == nil {
		return "it could not be started"
	}
	status, _ := p.state.Sys().(syscall.WaitStatus)
	if status.Signaled() && status.Signal() == syscall.SIGKILL && r.meter.OOMKills() > p.kills {
		r.mu.Lock()
		defer r.mu.Unlock()
		return meter.Starved(r.memory)
	}
	if status.Signaled() {
		return fmt.Sprintf("it was ended by signal %d (%v)", status.Signal(), status.Signal())
	}
	ended := fmt.Sprintf("it ended with exit status %d", status.ExitStatus())
	if status.ExitStatus() != 0 {
		return ended
	}
	if left := r.left(); left != "" {
		return ended + " and left " + left + " running in the background; a service must stay in the foreground (nginx does with -g 'daemon off;')"
	}
	return ended
}

// left names the processes that are left in the group, and still are a moment
// later; "" if there are none.
func (r *replica) left() string {
	for deadline := time.Now().Add(life.Steady); ; time.Sleep(5 * time.Millisecond) {
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

// end stops the replica and removes its group: its signal to every process, and
// KILL when the grace time or ctx is over.
func (r *replica) end(ctx context.Context) error {
	r.stop()
	if r.kept != nil {
		<-r.kept
	}
	r.standing.SetUp(false)
	if err := r.group.Signal(r.ending); err != nil {
		r.log.Note("%v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, platform.StopGrace)
	defer cancel()
	for {
		empty, err := r.group.Empty()
		if err != nil || empty {
			break
		}
		if !life.Sleep(ctx, 5*time.Millisecond) {
			r.log.Note("not everything ended in time after %s; killing what is left", unix.SignalName(r.ending))
			break
		}
	}
	return errors.Join(r.meter.Close(), r.pulses.Close(), r.group.Remove(), r.released(), r.log.File.Close())
}

// released verifies that nobody listens any more on a port that the next trial
// needs again.
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
			return fmt.Errorf("port %d is still listened on by %s after the service has stopped; end that before the next trial", r.port, holder)
		}
	}
}
