package docker

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/guard"
	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// replica is a container of a unit. After a restart it is the same container, with its
// file system and its address.
type replica struct {
	docker   *docker
	image    platform.ImageInfo
	id       string // "": not created yet
	name     string
	port     int        // on the machine's network; 0: the container has its own address
	own      netip.Addr // in the run's network
	address  string     // "" until it is ready if the port must be found
	ready    experiment.Ready
	until    platform.Condition
	attended bool                                // its standard input is that of launch
	serves   func(context.Context, string) error // as in platform.UnitSpec

	counters  counterTotals
	samples   sampleTotals
	guard     guard.Limits
	processes guard.Processes
	guarded   bool // its limits were stated; only launch uses it

	keeper  supervise.Keeper[*instance] // its log is nil until it is opened
	stopped context.Context             // ends when the replica has stopped
	over    context.CancelFunc
	halt    supervise.Halt
	threads meter.Threads

	mu     sync.Mutex
	limits experiment.Limits
	now    *instance // the last one
}

// Address is where the replica listens.
func (r *replica) Address() string { return r.address }

// Counters reads the running totals, which continue over restarts.
func (r *replica) Counters() (signals.Counters, error) {
	c, err := r.keeper.Status.Counters(r.counters.read())
	if err == nil && c.CPU != nil {
		all := r.PIDs()
		c.Stopped, c.Threads = r.halt.Halted(*c.CPU, all), r.threads.Read(all)
	}
	return c, err
}

// ThrottleSample reads the throttling of the replica, and whether it is up.
func (r *replica) ThrottleSample() (signals.ThrottleSample, error) {
	return r.keeper.Status.ThrottleSample(r.samples.read())
}

// PIDs are the container's processes by the pids of this machine, the first process at
// the head.
func (r *replica) PIDs() []int {
	r.mu.Lock()
	l := r.now
	r.mu.Unlock()
	if l == nil || l.group == "" {
		return nil
	}
	all, err := guard.PIDs(l.group)
	if err != nil {
		return nil
	}
	return supervise.LeaderFirst(all, l.pid)
}

// LastEnd describes how the container ended last. See platform.EndReporter.
func (r *replica) LastEnd() (how, output string) { return r.keeper.LastEnd() }

// LogDropped is how many bytes of its output are not in its log.
func (r *replica) LogDropped() int64 {
	if r.keeper.Log == nil {
		return 0
	}
	return r.keeper.Log.Dropped()
}

// limited returns the container's limits.
func (r *replica) limited() experiment.Limits {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.limits
}

// clean closes the counters of an instance that has ended.
func (r *replica) clean(l *instance) {
	r.counters.end(l.oom)
	r.samples.end()
}

// ending describes how an instance ended.
func (r *replica) ending(l *instance) string {
	if l.again {
		return r.ended(l) + ", and was started again by somebody else"
	}
	return r.ended(l)
}

// signalled is the exit status of a process that a signal ended, less the signal's
// number, as in shells.
const signalled = 128

func (r *replica) ended(l *instance) string {
	if l.exit == nil {
		return "it ended; Docker does not report how"
	}
	switch status := *l.exit; {
	case l.killed() && l.oom:
		return meter.OutOfMemory(r.limited().Memory)
	case status > signalled && status <= signalled+64:
		signal := syscall.Signal(status - signalled)
		return fmt.Sprintf("it ended with exit status %d, as by signal %d (%v)", status, signal, signal)
	case l.state != nil && l.state.Error != "":
		return fmt.Sprintf("it ended with exit status %d: %s", status, l.state.Error)
	default:
		return fmt.Sprintf("it ended with exit status %d", status)
	}
}

// end stops the replica and removes its container: first with its signal, and with KILL
// when the grace time or ctx is over.
func (r *replica) end(ctx context.Context) error {
	r.keeper.Stop()
	err := r.remove(ctx)
	r.mu.Lock()
	l := r.now
	r.mu.Unlock()
	if l != nil {
		select { // its last output
		case <-l.logged:
		case <-time.After(time.Second):
		}
	}
	r.over()
	err = errors.Join(err, r.counters.close(), r.samples.close())
	if r.keeper.Log != nil {
		err = errors.Join(err, r.keeper.Log.Close())
	}
	if r.own.IsValid() {
		r.docker.give(r.own)
	}
	if r.port != 0 {
		r.docker.ports.Give(r.port)
	}
	return err
}

// remove stops and removes the container, with its anonymous volumes.
func (r *replica) remove(ctx context.Context) error {
	if r.id == "" {
		return nil
	}
	api := r.docker.api
	if ctx.Err() == nil {
		grace := int(platform.StopGrace / time.Second)
		began := time.Now()
		_, err := api.ContainerStop(ctx, r.id, client.ContainerStopOptions{Timeout: &grace})
		switch {
		case err != nil && !errdefs.IsNotFound(err):
			r.keeper.Log.Note("%v", err)
		case time.Since(began) >= platform.StopGrace:
			r.keeper.Log.Note("it did not end within the grace period and was killed")
		}
	}
	patient, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	_, err := api.ContainerRemove(patient, r.id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("remove the container %s: %w", r.name, err)
	}
	return nil
}
