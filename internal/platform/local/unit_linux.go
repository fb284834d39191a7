package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/life"
	"github.com/millicore/millicore/internal/platform/local/shim"
	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/internal/platform/ports"
)

// unit is a running unit.
type unit struct {
	local    *local
	replicas []*replica

	once sync.Once
	err  error // of the one stopping
}

// Replicas returns the replicas in the order of their numbers.
func (u *unit) Replicas() []platform.Replica { return life.Replicas(u.replicas) }

// Stop stops and removes all replicas. When ctx ends, those that are still
// there are killed at once.
func (u *unit) Stop(ctx context.Context) error {
	u.once.Do(func() {
		u.err = errors.Join(life.Each(len(u.replicas), func(i int) error {
			r := u.replicas[i]
			defer u.local.ports.Give(r.port)
			return r.end(ctx)
		})...)
		u.local.drop(u)
	})
	return u.err
}

// Resize gives every replica other limits. Those that are being started again
// have them too.
func (u *unit) Resize(_ context.Context, l experiment.Limits) error {
	for i, r := range u.replicas {
		if err := u.local.run.Resize(r.group, l); err != nil {
			return fmt.Errorf("resize replica %d: %w", i, err)
		}
		r.meter.Resized(l)
		r.mu.Lock()
		r.memory = l.Memory
		r.mu.Unlock()
	}
	return nil
}

func (u *unit) end() error { return u.Stop(context.Background()) }

// startUnit starts all replicas, or none.
func (l *local) startUnit(ctx context.Context, u platform.Unit) (*unit, error) {
	if len(u.Command) == 0 {
		return nil, errors.New("no command: images run with --on docker or --on kubernetes")
	}
	if err := ports.Check(u.Port, u.FindPort, u.Limits.Replicas); err != nil {
		return nil, err
	}
	started := &unit{local: l}
	err := l.startReplicas(ctx, u, started)
	if err == nil {
		err = l.add(started)
	}
	if err == nil {
		return started, nil
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel() // no grace for what never served
	return nil, errors.Join(err, started.Stop(gone))
}

// startReplicas starts the replicas one after the other and then waits for all
// of them together.
func (l *local) startReplicas(ctx context.Context, u platform.Unit, into *unit) error {
	ctx, cancel := life.Within(ctx, cmp.Or(u.Ready.Timeout, life.ReadyTimeout))
	defer cancel(nil)
	processes := make([]*process, max(u.Limits.Replicas, 1))
	for i := range processes {
		r, err := l.prepare(u, i)
		if err != nil {
			return fmt.Errorf("replica %d: %w", i, err)
		}
		into.replicas = append(into.replicas, r)
		if processes[i], err = r.launch(); err != nil {
			return fmt.Errorf("replica %d: %w", i, err)
		}
	}
	err := life.Together(len(processes), cancel, func(i int) error {
		r, p := into.replicas[i], processes[i]
		err := r.awaitReady(ctx, p)
		if err == nil {
			err = life.Lasts(p.exited)
		}
		if err != nil {
			return r.explain(ctx, p, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, r := range into.replicas {
		r.standing.SetUp(true)
		r.kept = make(chan struct{})
		go r.keep(processes[i])
	}
	return nil
}

// explain adds to an error of awaitReady how it came and the end of the log.
func (r *replica) explain(ctx context.Context, p *process, err error) error {
	return r.log.Explain(ctx, err, func() string { return strings.TrimPrefix(r.obituary(p), "it ") }, r.elsewhere)
}

// elsewhere says where a replica listens that should listen on its port and does
// not; "" where there is nothing to say.
func (r *replica) elsewhere() string {
	if r.find {
		return ""
	}
	found, err := ports.Listening(r.PIDs())
	if err != nil || slices.ContainsFunc(found, func(a netip.AddrPort) bool { return int(a.Port()) == r.port }) {
		return ""
	}
	return fmt.Sprintf("; it listens on %v, and should on port %d: it is told by ${port} and $PORT, and where it takes neither, say --port (port: in an experiment file)", found[0], r.port)
}

// prepare makes everything that a replica needs but its process.
func (l *local) prepare(u platform.Unit, index int) (*replica, error) {
	port, err := l.takePort(u)
	if err != nil {
		return nil, err
	}
	r := &replica{port: port, memory: u.Limits.Memory, insists: u.Port != 0, find: u.FindPort, ready: u.Ready, serves: u.Serves, ending: cmp.Or(u.StopSignal, syscall.SIGTERM), backoff: life.Backoff{First: l.options.RestartAfter}}
	if !r.insists && !r.find {
		r.address = loopbackAt(port)
	}
	r.stopping, r.stop = context.WithCancel(context.Background())
	name := life.Name(u.Trial, u.Name, index)
	r.command, err = l.command(u, port)
	if err == nil {
		r.log, err = life.OpenLog(u.Logs, name+".log")
	}
	if err == nil {
		if err = r.enclose(l, name, u.Limits); err == nil {
			return r, nil
		}
		err = errors.Join(err, r.log.File.Close())
	}
	r.stop()
	l.ports.Give(port)
	return nil, err
}

// takePort takes the port that a unit insists on, or a free one.
func (l *local) takePort(u platform.Unit) (int, error) {
	if u.Port == 0 {
		return l.ports.Take()
	}
	if low, high := ports.Ephemeral(); u.Port >= low && u.Port <= high {
		l.warn(fmt.Sprintf("port %d is among those that the kernel gives to connections (%d to %d in /proc/sys/net/ipv4/ip_local_port_range): a service that is started again may find it taken", u.Port, low, high))
	}
	return u.Port, l.ports.Claim(u.Port)
}

// enclose makes the replica's group with the readers of its counters.
func (r *replica) enclose(l *local, name string, limits experiment.Limits) (err error) {
	if r.group, r.meter, err = l.makeGroup(name, limits, 1); err != nil {
		return err
	}
	if r.pulses, err = meter.NewPulser(r.group); err != nil {
		return errors.Join(err, r.meter.Close(), r.group.Remove())
	}
	r.command.Joins = r.group.Joins()
	return nil
}

// loopback is where services listen: nobody outside this machine reaches them.
const loopback = "127.0.0.1"

// command resolves a unit's command and environment for a port.
func (l *local) command(u platform.Unit, port int) (shim.Command, error) {
	vars := map[string]string{}
	maps.Copy(vars, u.Vars)
	vars["host"], vars["port"] = loopback, strconv.Itoa(port)
	args, err := life.Words(u.Command, vars)
	if err != nil {
		return shim.Command{}, err
	}
	stated, err := life.Env(u.Env, vars)
	if err != nil {
		return shim.Command{}, err
	}
	base, dropped := inherited(os.Environ())
	for _, name := range dropped {
		l.warn(name + " of this shell is not passed on to services; state it under env in the experiment if it is wanted")
	}
	env := environment(base, vars["port"], stated, u.Unset)
	program, err := findProgram(args[0], u.Dir, lookup(env, "PATH"))
	if err != nil {
		return shim.Command{}, err
	}
	c := shim.Command{Dir: u.Dir, Path: program, Args: args, Env: env, PrivateIPC: u.PrivateIPC}
	if u.User != nil {
		c.User = &shim.User{UID: u.User.UID, GID: u.User.GID}
	}
	return c, nil
}
