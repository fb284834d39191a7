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

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/local/group"
	"github.com/millicore/millicore/internal/platform/local/shim"
	"github.com/millicore/millicore/internal/signals"
)

// replica is a process of a unit with its group. It stays the same when the
// process dies and is started again.
type replica struct {
	port    int
	command shim.Command
	ready   experiment.Ready
	backoff backoff
	group   *group.Group
	meter   *meter
	log     *output

	stopping context.Context // ends when the replica is to stop
	stop     context.CancelFunc
	kept     chan struct{} // closed when nobody restarts it any more; nil before

	mu       sync.Mutex
	up       bool
	restarts int64
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
func (r *replica) Address() string {
	return net.JoinHostPort(loopback, strconv.Itoa(r.port))
}

// Counters reads the running totals.
func (r *replica) Counters() (signals.Counters, error) {
	c, err := r.meter.counters()
	if err != nil {
		return signals.Counters{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c.Restarts, c.Up = r.restarts, r.up
	return c, nil
}

func (r *replica) setUp(up bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.up = up
}

// launch starts the process.
func (r *replica) launch() (*process, error) {
	p := &process{kills: r.meter.oomKills(), exited: make(chan struct{})}
	cmd, err := shim.Start(r.command, nil, r.log.file, r.log.file)
	if err != nil {
		return nil, err
	}
	p.began = time.Now()
	go p.wait(cmd)
	return p, nil
}

func (p *process) wait(cmd *exec.Cmd) {
	cmd.Wait() // how it ended is in the state
	p.state = cmd.ProcessState
	p.ran = time.Since(p.began)
	close(p.exited)
}

// errDied says that a process ended before it was ready.
var errDied = errors.New("it ended before it was ready")

// awaitReady waits until the process serves. It returns errDied if the process
// ends first, and another error when ctx does.
func (r *replica) awaitReady(ctx context.Context, p *process) error {
	looking, cancel := context.WithCancel(ctx)
	defer cancel()
	answer := make(chan error, 1)
	go func() { answer <- serves(looking, r.Address(), r.ready.Path) }()
	select {
	case err := <-answer:
		return err
	case <-p.exited:
		return errDied
	}
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
		r.setUp(false)
		if err := r.group.Kill(); err != nil { // what it left, as with a container's process 1
			r.log.note("%v", err)
		}
		wait := r.backoff.next(p.ran)
		r.log.note("%s; starting it again in %v", r.obituary(p), wait)
		if !sleep(r.stopping, wait) {
			return
		}
		p = r.again()
	}
}

// again starts the process anew and waits until it serves. What comes back may
// be dead already.
func (r *replica) again() *process {
	r.mu.Lock()
	r.restarts++
	r.mu.Unlock()
	p, err := r.launch()
	if err != nil {
		r.log.note("%v", err)
		p = &process{exited: make(chan struct{})}
		close(p.exited)
		return p
	}
	if r.awaitReady(r.stopping, p) == nil {
		r.setUp(true)
	}
	return p
}

// obituary says how a process ended.
func (r *replica) obituary(p *process) string {
	if p.state == nil {
		return "it could not be started"
	}
	status, _ := p.state.Sys().(syscall.WaitStatus)
	if status.Signaled() && status.Signal() == syscall.SIGKILL && r.meter.oomKills() > p.kills {
		if r.meter.memoryLimit == nil {
			return "it was killed for want of memory on this machine"
		}
		return fmt.Sprintf("it was killed for want of memory: it reached its limit of %d bytes", *r.meter.memoryLimit)
	}
	switch {
	case status.Signaled():
		return fmt.Sprintf("it was ended by signal %d (%v)", status.Signal(), status.Signal())
	default:
		return fmt.Sprintf("it ended with exit status %d", status.ExitStatus())
	}
}

// end stops the replica and removes its group: TERM to every process, and KILL
// when the grace time or ctx is over.
func (r *replica) end(ctx context.Context) error {
	r.stop()
	if r.kept != nil {
		<-r.kept
	}
	r.setUp(false)
	if err := r.group.Signal(syscall.SIGTERM); err != nil {
		r.log.note("%v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, platform.StopGrace)
	defer cancel()
	for {
		empty, err := r.group.Empty()
		if err != nil || empty {
			break
		}
		if !sleep(ctx, 5*time.Millisecond) {
			r.log.note("not everything ended in time after SIGTERM; killing what is left")
			break
		}
	}
	return errors.Join(r.meter.close(), r.group.Remove(), r.log.file.Close())
}

// backoff is the wait before a restart: first, doubling with every death to ten
// times first; a life longer than that begins again at first.
type backoff struct {
	first, now time.Duration
}

func (b *backoff) next(ran time.Duration) time.Duration {
	longest := 10 * b.first
	if b.now == 0 || ran > longest {
		b.now = b.first
	}
	wait := b.now
	b.now = min(2*b.now, longest)
	return wait
}

// sleep waits, and reports false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
