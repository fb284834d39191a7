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
	"sync"
	"syscall"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/local/shim"
	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/internal/platform/ports"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// unit is a running unit.
type unit struct {
	local    *local
	replicas []*replica

	once sync.Once
	err  error // of the one stopping
}

// Replicas returns the replicas in the order of their numbers.
func (u *unit) Replicas() []platform.Replica { return supervise.Replicas(u.replicas) }

// Stop stops and removes all replicas. When ctx ends, the remaining ones are killed.
func (u *unit) Stop(ctx context.Context) error {
	u.once.Do(func() {
		u.err = errors.Join(supervise.Each(len(u.replicas), func(i int) error {
			r := u.replicas[i]
			defer u.local.ports.Give(r.port)
			if refused := r.refused(); refused != "" {
				r.keeper.Log.Note("%s", refused)
				u.local.warn(r.name + ": " + refused)
			}
			return r.end(ctx)
		})...)
		u.local.drop(u)
	})
	return u.err
}

// Resize changes the limits of every replica. A replica that is restarting gets them
// too.
func (u *unit) Resize(_ context.Context, l experiment.Limits) error {
	l = withPIDs(l)
	for i, r := range u.replicas {
		if err := u.local.run.Resize(r.group, l); err != nil {
			return fmt.Errorf("resize replica %d: %w", i, err)
		}
		r.meter.Resized(l)
		r.mu.Lock()
		r.memory, r.pids = l.Memory, l.PIDs
		r.mu.Unlock()
	}
	return nil
}

func (u *unit) end() error { return u.Stop(context.Background()) }

// startUnit starts all replicas, or none.
func (l *local) startUnit(ctx context.Context, u platform.UnitSpec) (*unit, error) {
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
	if ctx.Err() == nil {
		err = started.explained(err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel() // no grace time for a unit that never served
	return nil, errors.Join(err, started.Stop(gone))
}

// startReplicas starts the replicas one after the other and then waits for all of them.
func (l *local) startReplicas(ctx context.Context, u platform.UnitSpec, into *unit) error {
	var keepers []*supervise.Keeper[*process]
	var started []*process
	for i := range max(u.Limits.Replicas, 1) {
		r, err := l.prepare(u, i)
		if err != nil {
			return fmt.Errorf("replica %d: %w", i, err)
		}
		into.replicas = append(into.replicas, r)
		p, err := r.launch(ctx)
		if err != nil {
			return fmt.Errorf("replica %d: %w", i, err)
		}
		keepers, started = append(keepers, &r.keeper), append(started, p)
	}
	return supervise.KeepAll(ctx, u.Ready.Timeout, keepers, started)
}

// elsewhere describes where a replica listens instead of on its port; "" if it listens
// nowhere else.
func (r *replica) elsewhere() string {
	if r.find {
		return ""
	}
	found, err := ports.Listening(r.PIDs())
	if err != nil || slices.ContainsFunc(found, func(a netip.AddrPort) bool { return int(a.Port()) == r.port }) {
		return ""
	}
	return fmt.Sprintf("; it listens on %v and not on port %d: use ${port} or $PORT, or set --port (port: in an experiment file)", found[0], r.port)
}

// prepare makes everything that a replica needs, except its process.
func (l *local) prepare(u platform.UnitSpec, index int) (*replica, error) {
	u.Limits = withPIDs(u.Limits)
	port, err := l.takePort(u)
	if err != nil {
		return nil, err
	}
	r := &replica{name: u.Name, port: port, run: l.run, memory: u.Limits.Memory, pids: u.Limits.PIDs, insists: u.Port != 0, find: u.FindPort, ready: u.Ready, serves: u.Serves, signal: cmp.Or(u.StopSignal, syscall.SIGTERM)}
	if !r.insists && !r.find {
		r.address = loopbackAt(port)
	}
	r.keeper = supervise.Keeper[*process]{Backoff: supervise.Backoff{First: l.options.RestartAfter},
		Launch: r.launch, Ready: r.awaitReady, Clean: r.clean, Ending: r.ending, Where: r.elsewhere}
	r.keeper.Begin(context.Background())
	name := supervise.ReplicaName(u.Trial, u.Name, index)
	r.command, r.invoker, err = l.command(u, port)
	if err == nil {
		r.keeper.Log, err = supervise.OpenLog(u.Logs, name+".log")
	}
	if err == nil {
		r.keeper.Log.Removed = u.LogsRemoved
		r.keeper.Log.Bound()
		if err = r.enclose(l, name, u.Limits); err == nil {
			return r, nil
		}
		err = errors.Join(err, r.keeper.Log.Close())
	}
	r.keeper.Stop()
	l.ports.Give(port)
	return nil, err
}

// withPIDs are limits with the default of processes and threads.
func withPIDs(l experiment.Limits) experiment.Limits {
	l.PIDs = cmp.Or(l.PIDs, experiment.DefaultPIDs)
	return l
}

// takePort reserves the fixed port of a unit, or a free one.
func (l *local) takePort(u platform.UnitSpec) (int, error) {
	if u.Port == 0 {
		return l.ports.Take()
	}
	if low, high := ports.Ephemeral(); u.Port >= low && u.Port <= high {
		l.warn(fmt.Sprintf("port %d is in the range of ports that the kernel assigns to connections (%d to %d in /proc/sys/net/ipv4/ip_local_port_range): it may be in use when a service restarts", u.Port, low, high))
	}
	return u.Port, l.ports.Claim(u.Port)
}

// enclose makes the replica's group with the readers of its counters.
func (r *replica) enclose(l *local, name string, limits experiment.Limits) (err error) {
	if r.group, r.meter, err = l.makeGroup(name, limits, 1); err != nil {
		return err
	}
	if r.samples, err = meter.NewThrottleReader(r.group); err != nil {
		return errors.Join(err, r.meter.Close(), r.group.Remove())
	}
	r.command.Joins = r.group.Joins()
	r.command.Env = append(r.command.Env, l.run.Mark(r.group))
	return nil
}

// loopback is the address on which services listen: it is not reachable from other
// machines.
const loopback = "127.0.0.1"

// command resolves a unit's command and environment for a port. invoker is as of a runner.
func (l *local) command(u platform.UnitSpec, port int) (c shim.Command, invoker string, err error) {
	vars := map[string]string{}
	maps.Copy(vars, u.Vars)
	vars["host"], vars["port"] = loopback, strconv.Itoa(port)
	args, err := supervise.ExpandCommand(u.Command, vars)
	if err != nil {
		return c, "", err
	}
	stated, err := supervise.ExpandEnv(u.Env, vars)
	if err != nil {
		return c, "", err
	}
	base, dropped := inherited(os.Environ())
	for _, name := range dropped {
		l.warn(name + " of this shell is not passed on to services; set it under env in the experiment if they need it")
	}
	program, err := findProgram(args[0], u.Dir, lookup(environment(base, vars["port"], stated, u.Unset), "PATH"))
	if err != nil {
		return c, "", err
	}
	as, err := l.runner(u, program, args)
	if err != nil {
		return c, "", err
	}
	env := environment(as.adapt(base), vars["port"], stated, u.Unset)
	return shim.Command{Dir: u.Dir, Path: program, Args: args, Env: env, User: as.user, NoNewPrivileges: true, PrivateIPC: u.PrivateIPC}, as.invoker, nil
}
