package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/local/shim"
)

// readyTimeout holds where a unit states none.
const readyTimeout = 30 * time.Second

// unit is a running unit.
type unit struct {
	local    *local
	replicas []*replica

	once sync.Once
	err  error // of the one stopping
}

// Replicas returns the replicas in the order of their numbers.
func (u *unit) Replicas() []platform.Replica {
	all := make([]platform.Replica, len(u.replicas))
	for i, r := range u.replicas {
		all[i] = r
	}
	return all
}

// Stop stops and removes all replicas. When ctx ends, those that are still
// there are killed at once.
func (u *unit) Stop(ctx context.Context) error {
	u.once.Do(func() {
		errs := make([]error, len(u.replicas))
		var all sync.WaitGroup
		for i, r := range u.replicas {
			all.Go(func() {
				errs[i] = r.end(ctx)
				u.local.ports.give(r.port)
			})
		}
		all.Wait()
		u.local.drop(u)
		u.err = errors.Join(errs...)
	})
	return u.err
}

func (u *unit) end() error { return u.Stop(context.Background()) }

// startUnit starts all replicas, or none.
func (l *local) startUnit(ctx context.Context, u platform.Unit) (*unit, error) {
	if len(u.Command) == 0 {
		return nil, errors.New("no command: images run with --on docker or --on kubernetes")
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
	timeout := u.Ready.Timeout
	if timeout == 0 {
		timeout = readyTimeout
	}
	// Without a deadline in it: a look that meets one says so instead of what it
	// saw.
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(timeout, func() { cancel(fmt.Errorf("it was not ready within %v", timeout)) })
	defer timer.Stop()
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
	errs := make([]error, len(processes))
	var all sync.WaitGroup
	for i, r := range into.replicas {
		all.Go(func() {
			if errs[i] = r.awaitReady(ctx, processes[i]); errs[i] != nil {
				errs[i] = fmt.Errorf("replica %d: %w", i, r.explain(ctx, processes[i], errs[i]))
				cancel(nil) // the others need not be waited for
			}
		})
	}
	all.Wait()
	if err := firstCause(errs); err != nil {
		return err
	}
	for i, r := range into.replicas {
		r.setUp(true)
		r.kept = make(chan struct{})
		go r.keep(processes[i])
	}
	return nil
}

// firstCause returns the error of a replica that failed of itself rather than
// because another had failed before.
func firstCause(errs []error) error {
	var first error
	for _, err := range errs {
		if err != nil && (first == nil || errors.Is(first, context.Canceled)) {
			first = err
		}
	}
	return first
}

// explain adds to an error of awaitReady how it came and the end of the log.
func (r *replica) explain(ctx context.Context, p *process, err error) error {
	switch {
	case errors.Is(err, errDied):
		err = fmt.Errorf("%w: %s", errDied, strings.TrimPrefix(r.obituary(p), "it "))
	case context.Cause(ctx) != nil:
		err = fmt.Errorf("%w (%w)", context.Cause(ctx), err)
	}
	if tail := r.log.tail(); tail != "" {
		return fmt.Errorf("%w; the end of %s:%s", err, r.log.file.Name(), tail)
	}
	return fmt.Errorf("%w; %s is empty", err, r.log.file.Name())
}

// prepare makes everything that a replica needs but its process.
func (l *local) prepare(u platform.Unit, index int) (*replica, error) {
	port, err := l.ports.take()
	if err != nil {
		return nil, err
	}
	r := &replica{port: port, ready: u.Ready, backoff: backoff{first: l.options.RestartAfter}}
	r.stopping, r.stop = context.WithCancel(context.Background())
	name := fmt.Sprintf("trial%03d-%s-%d", u.Trial, safeName(u.Name), index)
	r.command, err = l.command(u, port)
	if err == nil {
		r.log, err = openOutput(u.Logs, name+".log")
	}
	if err == nil {
		r.group, r.meter, err = l.makeGroup(name, u.Limits, 1)
		if err == nil {
			r.command.Joins = r.group.Joins()
			return r, nil
		}
		err = errors.Join(err, r.log.file.Close())
	}
	r.stop()
	l.ports.give(port)
	return nil, err
}

// loopback is where services listen: nobody outside this machine reaches them.
const loopback = "127.0.0.1"

// command resolves a unit's command and environment for a port.
func (l *local) command(u platform.Unit, port int) (shim.Command, error) {
	vars := map[string]string{}
	maps.Copy(vars, u.Vars)
	vars["host"], vars["port"] = loopback, strconv.Itoa(port)
	args, err := expandAll(u.Command, vars)
	if err != nil {
		return shim.Command{}, err
	}
	stated, err := expandEnv(u.Env, vars)
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
	return shim.Command{Dir: u.Dir, Path: program, Args: args, Env: env}, nil
}
