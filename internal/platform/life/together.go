package life

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/platform"
)

// Each does something with each of n side by side, and gives the errors in their
// order.
func Each(n int, do func(i int) error) []error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = do(i) })
	}
	all.Wait()
	return errs
}

// Within gives a context that is cancelled, with words, when a unit was not ready
// in time. It has no deadline: a look that meets one says so instead of what it
// saw. cancel(nil) frees it.
func Within(ctx context.Context, timeout time.Duration) (_ context.Context, cancel context.CancelCauseFunc) {
	ctx, end := context.WithCancelCause(ctx)
	timer := time.AfterFunc(timeout, func() { end(fmt.Errorf("it was not ready within %v", timeout)) })
	return ctx, func(cause error) {
		timer.Stop()
		end(cause)
	}
}

// Together waits for all replicas of a unit side by side. The first one that
// fails cancels the waiting for the others, and its error is the unit's.
func Together(n int, cancel context.CancelCauseFunc, wait func(i int) error) error {
	return FirstCause(Each(n, func(i int) error {
		err := wait(i)
		if err != nil {
			cancel(nil)
			err = fmt.Errorf("replica %d: %w", i, err)
		}
		return err
	}))
}

// Lasts returns ErrDied if a life that serves is about to end.
func Lasts(ended <-chan struct{}) error {
	select {
	case <-ended:
		return ErrDied
	case <-time.After(Steady):
		return nil
	}
}

// Explain adds to the error of a replica that did not come to serve how it died,
// or what was being waited for, and the end of what it said. where may be "".
func (l *Log) Explain(ctx context.Context, err error, died, where func() string) error {
	switch {
	case errors.Is(err, ErrDied):
		err = fmt.Errorf("%w: %s", ErrDied, died())
	case context.Cause(ctx) != nil:
		err = fmt.Errorf("%w (%w)%s", context.Cause(ctx), err, where())
	}
	if tail := l.Tail(); tail != "" {
		return fmt.Errorf("%w; the end of %s:%s", err, l.File.Name(), tail)
	}
	return fmt.Errorf("%w; %s is empty", err, l.File.Name())
}

// Replicas gives a platform's replicas as any platform's.
func Replicas[R platform.Replica](own []R) []platform.Replica {
	all := make([]platform.Replica, len(own))
	for i, r := range own {
		all[i] = r
	}
	return all
}
