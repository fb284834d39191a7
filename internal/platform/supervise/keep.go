package supervise

import (
	"cmp"
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/millicore/millicore/internal/data/experiment/span"
)

// Instance is a replica from one start to its end: a process, or a container.
type Instance interface {
	Ended() <-chan struct{} // closed when it has ended
	Ran() time.Duration     // how long it ran, once it has ended
}

// Keeper restarts a replica after every end, until the replica is to stop. Begin must be
// called first.
type Keeper[I Instance] struct {
	Status  Status
	Log     *Log
	Backoff Backoff

	Launch func(context.Context) (I, error) // starts the replica
	Ready  func(context.Context, I) error   // waits until it serves; ErrDied if it ends first
	Clean  func(I)                          // after an end
	Ending func(I) string                   // describes an end: "it ended with exit status 1"
	Where  func() string                    // the address that is probed, for errors; may return ""

	stopping context.Context // ends when the replica is to stop
	stop     context.CancelFunc
	kept     chan struct{} // closed when the replica is not kept any more; nil before it is

	last atomic.Pointer[[2]string] // how the instance ended that ended last; nil: none has
}

// LastEnd describes how the instance ended that ended last, and the end of its output; ""
// if none has ended since the replica was ready.
func (k *Keeper[I]) LastEnd() (how, output string) {
	if last := k.last.Load(); last != nil {
		how, output = last[0], last[1]
	}
	return how, output
}

// Begin makes the keeper ready for use. The end of ctx stops it.
func (k *Keeper[I]) Begin(ctx context.Context) {
	k.stopping, k.stop = context.WithCancel(ctx)
}

// UntilServing waits until look has the address at which an instance serves, and keeps it in
// address if none is there: it does not change later. It returns ErrDied if the instance ends
// first, and another error when ctx ends.
func (k *Keeper[I]) UntilServing(ctx context.Context, i I, address *string, look Probe) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		address string
		err     error
	}
	answered := make(chan answer, 1)
	go func() {
		at, err := look(ctx)
		answered <- answer{at, err}
	}()
	select {
	case <-i.Ended():
		return ErrDied
	case a := <-answered:
		if a.err == nil && *address == "" {
			*address = a.address
			k.Log.Note("it listens on %s", a.address)
		}
		return a.err
	}
}

// Stopping ends when the replica is to stop.
func (k *Keeper[I]) Stopping() context.Context { return k.stopping }

// Stop ends the keeping of the replica, and waits until it has ended. It does not end
// the instance.
func (k *Keeper[I]) Stop() {
	k.stop()
	if k.kept != nil {
		<-k.kept
	}
	k.Status.SetUp(false)
}

// Go calls keep in a goroutine, for which Stop waits.
func (k *Keeper[I]) Go(keep func()) {
	k.kept = make(chan struct{})
	go func() {
		defer close(k.kept)
		keep()
	}()
}

// Kept is closed when Go's function has returned.
func (k *Keeper[I]) Kept() <-chan struct{} { return k.kept }

// KeepAll waits until the started instances of all replicas serve, for at most the
// timeout (0: ReadyTimeout), and keeps the replicas from then on.
func KeepAll[I Instance](ctx context.Context, timeout time.Duration, keepers []*Keeper[I], started []I) error {
	ctx, cancel := WithTimeout(ctx, cmp.Or(timeout, ReadyTimeout))
	defer cancel(nil)
	err := AwaitAll(len(started), cancel, func(n int) error {
		err := keepers[n].Ready(ctx, started[n])
		if err == nil {
			err = StaysUp(started[n].Ended())
		}
		if err != nil {
			return keepers[n].explain(ctx, started[n], err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for n, k := range keepers {
		k.Status.SetUp(true)
		k.Go(func() { k.keep(started[n]) })
	}
	return nil
}

// explain adds the reason and the end of the log to an error of Ready.
func (k *Keeper[I]) explain(ctx context.Context, i I, err error) error {
	return k.Log.Explain(ctx, err, func() string { return strings.TrimPrefix(k.Ending(i), "it ") }, k.Where)
}

func (k *Keeper[I]) keep(i I) {
	for {
		select {
		case <-k.stopping.Done():
			return
		case <-i.Ended():
		}
		k.Status.SetUp(false)
		ending := k.Ending(i)
		k.last.Store(&[2]string{ending, k.Log.end()})
		k.Clean(i)
		next, ok := k.restart(ending, i.Ran())
		if !ok {
			return
		}
		i = next
	}
}

// restart starts the replica again, as often as necessary, and waits until it serves.
// The instance that it returns may have ended already. ok is false if the replica is to
// stop.
func (k *Keeper[I]) restart(ending string, ran time.Duration) (i I, ok bool) {
	for {
		wait := k.Backoff.Next(ran)
		k.Log.Note("%s; restarting it in %v", ending, span.Text(wait))
		if !Sleep(k.stopping, wait) {
			return i, false
		}
		k.Status.Restarted()
		i, err := k.Launch(k.stopping)
		if err == nil {
			if k.Ready(k.stopping, i) == nil {
				k.Status.SetUp(true)
			}
			return i, true
		}
		k.Log.Note("%v", err)
		ending, ran = "it could not be started", 0
	}
}
