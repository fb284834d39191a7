package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// instance is a container from a start to its end. Its control group exists for that
// time.
type instance struct {
	began  time.Time
	pid    int
	group  string        // directory of the group, whose processes are the container's
	dirs   []string      // those of the group in all hierarchies with limits
	logged chan struct{} // closed when all of its output is in the log

	ended chan struct{}
	// Once ended is closed:
	exit  *int             // its exit status; nil: it is not known
	state *container.State // of the container; nil: it is not known, or that of a later instance
	again bool             // somebody else has started the container again
	oom   bool             // the kernel killed a process of it for its memory
	ran   time.Duration
}

// oomReport bounds the wait for Docker's report of an OOM kill: the kernel informs Docker
// of it beside the end of the container, and often after it.
const oomReport = 500 * time.Millisecond

func (l *instance) Ended() <-chan struct{} { return l.ended }
func (l *instance) Ran() time.Duration     { return l.ran }

// launch starts the container, and reads its group from then on. It is not an error if
// the container has ended before its group was found.
func (r *replica) launch(ctx context.Context) (*instance, error) {
	l := &instance{ended: make(chan struct{}), logged: make(chan struct{})}
	api := r.docker.api
	out, err := api.ContainerAttach(r.stopped, r.id, client.ContainerAttachOptions{Stream: true, Stdin: r.attended, Stdout: true, Stderr: true})
	if err != nil {
		// podman prepares the container here, and the client loses why it could not. The
		// start fails for the same reason, and reports it.
		if _, why := api.ContainerStart(ctx, r.id, client.ContainerStartOptions{}); why != nil {
			return nil, fmt.Errorf("start the container: %w%s", why, r.networkHint(why))
		}
		return nil, fmt.Errorf("attach to the container: %w", err)
	}
	go func() {
		defer close(l.logged)
		defer out.Close()
		stdcopy.StdCopy(r.keeper.Log.File, r.keeper.Log.File, out.Reader) // the stream ends with the container
	}()
	end := api.ContainerWait(r.stopped, r.id, client.ContainerWaitOptions{Condition: container.WaitConditionNextExit})
	if _, err := api.ContainerStart(ctx, r.id, client.ContainerStartOptions{}); err != nil {
		out.Close()
		return nil, fmt.Errorf("start the container: %w%s", err, r.networkHint(err))
	}
	l.began = time.Now()
	if err := r.find(ctx, l); err != nil {
		out.Close()
		return nil, err
	}
	r.mu.Lock()
	r.now = l
	r.mu.Unlock()
	go r.await(l, end)
	return l, nil
}

// networkHint is the advice for a kernel without the network.
func (r *replica) networkHint(err error) string {
	for _, word := range []string{"endpoint", "veth", "bridge", "sandbox"} {
		if !r.docker.options.HostNetwork && strings.Contains(err.Error(), word) {
			return "; if this machine has no bridge networks, let the containers use the machine's network: docker: {network: host} in the experiment file"
		}
	}
	return ""
}

// await waits for the end of an instance and reads its state.
func (r *replica) await(l *instance, end client.ContainerWaitResult) {
	defer close(l.ended)
	select {
	case how := <-end.Result:
		status := int(how.StatusCode)
		l.exit = &status
	case <-end.Error:
		// An error of the daemon: poll the container's state.
		for r.running() && supervise.Sleep(r.stopped, time.Second) {
		}
	}
	l.ran = time.Since(l.began)
	l.oom = r.counters.oomKilled() // while its group exists
	select {                       // its last output
	case <-l.logged:
	case <-time.After(time.Second):
	}
	l.oom = l.oom || r.counters.oomKilled() // another reader may have seen it
	r.inspect(l)
	for waited := time.Duration(0); l.killed() && !l.oom && !l.again && waited < oomReport; waited += oomReport / 10 {
		if !supervise.Sleep(r.stopped, oomReport/10) {
			return
		}
		r.inspect(l)
	}
}

// inspect reads how an instance ended.
func (r *replica) inspect(l *instance) {
	ctx, cancel := context.WithTimeout(r.stopped, callTimeout)
	defer cancel()
	if seen, err := r.docker.api.ContainerInspect(ctx, r.id, client.ContainerInspectOptions{}); err == nil {
		l.ending(seen.Container.State)
	}
}

// killed reports whether an instance ended by SIGKILL, or like it.
func (l *instance) killed() bool {
	return l.exit != nil && *l.exit == signalled+int(syscall.SIGKILL)
}

// ending takes the state of the container after the end. If the container runs, somebody
// else has started it again, such as docker restart or a restart policy that was set, and
// the state describes another instance.
func (l *instance) ending(state *container.State) {
	switch {
	case state == nil:
	case state.Running && !state.Restarting:
		l.again = true
	default:
		l.state = state
		l.oom = l.oom || state.OOMKilled
		if l.exit == nil {
			l.exit = &state.ExitCode
		}
	}
}

// running reports whether the container may still run. It may if the daemon does not
// answer.
func (r *replica) running() bool {
	ctx, cancel := context.WithTimeout(r.stopped, callTimeout)
	defer cancel()
	seen, err := r.docker.api.ContainerInspect(ctx, r.id, client.ContainerInspectOptions{})
	return client.IsErrConnectionFailed(err) || err == nil && seen.Container.State != nil && seen.Container.State.Running
}

// find finds the container's group on this machine, by its first process, and
// opens its counters.
func (r *replica) find(ctx context.Context, l *instance) error {
	seen, err := r.docker.api.ContainerInspect(ctx, r.id, client.ContainerInspectOptions{})
	if err != nil {
		return fmt.Errorf("inspect the container: %w", err)
	}
	state := seen.Container.State
	if state == nil || !state.Running {
		return nil
	}
	l.pid = state.Pid
	err = r.open(l)
	for deadline := time.Now().Add(endDelay); err != nil && time.Now().Before(deadline); {
		if !r.running() {
			return nil // it had ended, which the daemon reports a little later
		}
		if !supervise.Sleep(ctx, 10*time.Millisecond) {
			break
		}
	}
	return err
}

// endDelay is how long the daemon may take to report that a container has ended.
const endDelay = time.Second

// open opens the counters of the group, and sets the burst.
func (r *replica) open(l *instance) error {
	group, err := cgroup.Host().Process(l.pid)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the container's process %d is not on this machine, or cannot be seen in /proc: run millicore beside the Docker daemon, outside of containers", l.pid)
	}
	if err != nil {
		return err
	}
	place, ok := group.Place(cgroup.CPU).Get()
	if !ok {
		return fmt.Errorf("find the control group of the container's process %d: %w", l.pid, orNone(group.Place(cgroup.CPU).Err()))
	}
	if !strings.Contains(place.Dir, r.id) {
		return fmt.Errorf("the control group of process %d is %s, not one of the container %.12s: the Docker daemon is in another machine or pid namespace; run millicore beside it", l.pid, place.Dir, r.id)
	}
	if err := setBurst(place, r.limited()); err != nil {
		return err
	}
	m, err := meter.New(group, r.limited())
	if err != nil {
		return err
	}
	p, err := meter.NewThrottleReader(group)
	if err != nil {
		return errors.Join(err, m.Close())
	}
	r.watch(l, group)
	l.group = place.Dir
	r.counters.begin(m)
	r.samples.begin(p)
	return nil
}

// orNone returns err, or an error that there is no controller.
func orNone(err error) error {
	if err == nil {
		return errors.New("this machine has no cpu controller")
	}
	return err
}

// burstFile is the kernel's file for a burst, in microseconds.
// Linux Documentation/scheduler/sched-bwc.rst, "Management".
func burstFile(version cgroup.Version) string {
	if version == cgroup.V1 {
		return "cpu.cfs_burst_us"
	}
	return "cpu.max.burst"
}

// setBurst allows a burst. Docker's API has no field for it, so it is set shortly after
// the container's start.
func setBurst(place cgroup.Place, l experiment.Limits) error {
	if l.BurstMillis == 0 {
		return nil
	}
	if err := writeBurst(place, meter.BandwidthOf(l).Burst); err != nil {
		return fmt.Errorf("allow a CPU burst of %dm: %w", l.BurstMillis, err)
	}
	return nil
}

// writeBurst writes the burst of a group.
func writeBurst(place cgroup.Place, burst time.Duration) error {
	file := burstFile(place.Version)
	f, err := os.OpenFile(filepath.Join(place.Dir, file), os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return noBurst(place.Dir, file)
	}
	if err == nil {
		_, err = f.WriteString(strconv.FormatInt(burst.Microseconds(), 10))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("%w; run as root, or leave burst out", err)
	}
	return nil
}
