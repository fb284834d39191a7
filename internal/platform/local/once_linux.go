package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/millicore/millicore/internal/platform"
)

// onceUnit is a unit whose one process ends by itself.
type onceUnit struct {
	*unit
	once *onceReplica
}

// Replicas returns the one replica.
func (u *onceUnit) Replicas() []platform.Replica { return []platform.Replica{u.once} }

// onceReplica is a replica that is not restarted. It is a platform.Job.
type onceReplica struct {
	*replica
	process *process
	failure string // once Ended is closed
}

// StartOnce starts the single replica of a unit, such as a benchmark, and returns when
// its process runs. It does not wait for readiness: the replica is up until it ends. It
// is not restarted, and processes that it left are killed. The replica is a
// platform.Job.
func (l *local) StartOnce(ctx context.Context, u platform.UnitSpec) (platform.Unit, error) {
	started, err := l.startOnce(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", u.Name, err)
	}
	return started, nil
}

func (l *local) startOnce(ctx context.Context, u platform.UnitSpec) (*onceUnit, error) {
	switch {
	case len(u.Command) == 0:
		return nil, errors.New("no command: images run with --on docker or --on kubernetes")
	case u.Limits.Replicas > 1:
		return nil, fmt.Errorf("%d replicas of a program that ends by itself; run one", u.Limits.Replicas)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	r, err := l.prepare(u, 0)
	if err != nil {
		return nil, err
	}
	started := &onceUnit{unit: &unit{local: l, replicas: []*replica{r}}, once: &onceReplica{replica: r}}
	r.keeper.Status.SetUp(true)
	if started.once.process, err = r.launch(ctx); err == nil {
		r.keeper.Go(started.once.await)
		err = l.add(started)
	}
	if err == nil {
		return started, nil
	}
	err = started.explained(err)
	gone, cancel := context.WithCancel(context.Background())
	cancel() // no grace time for a failed start
	return nil, errors.Join(err, started.Stop(gone))
}

// Stop ends the process if it still runs, and removes what was made for it.
func (u *onceUnit) Stop(ctx context.Context) error {
	err := u.unit.Stop(ctx)
	u.local.drop(u)
	return err
}

func (u *onceUnit) end() error { return u.Stop(context.Background()) }

// await waits for the end of the process, or until it is to stop.
func (r *onceReplica) await() {
	select {
	case <-r.keeper.Stopping().Done():
		return
	case <-r.process.exited:
	}
	r.keeper.Status.SetUp(false)
	how := r.ending(r.process)
	if !r.process.state.Success() {
		r.failure = how
	}
	r.keeper.Log.Note("%s", how)
	r.clean(r.process)
}

// Ended is closed when the process has ended, or was stopped.
func (r *onceReplica) Ended() <-chan struct{} { return r.keeper.Kept() }

// Failure describes how the process ended, once it has; "" is exit status 0.
func (r *onceReplica) Failure() string { return r.failure }

// Output is the path of the file with the standard output and error of the process.
func (r *onceReplica) Output() string { return r.keeper.Log.File.Name() }
