package supervise

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/data/experiment/span"
)

// Each calls do for 0 to n-1 concurrently and returns the errors in that order.
func Each(n int, do func(i int) error) []error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = do(i) })
	}
	all.Wait()
	return errs
}

// WithTimeout returns a context that is cancelled when a unit was not ready in
// time; the cause is an error that states the timeout. The context has no
// deadline: a probe that meets a deadline returns that instead of what it found.
// cancel(nil) frees it.
func WithTimeout(ctx context.Context, timeout time.Duration) (_ context.Context, cancel context.CancelCauseFunc) {
	ctx, end := context.WithCancelCause(ctx)
	timer := time.AfterFunc(timeout, func() { end(fmt.Errorf("it was not ready within %v", span.Text(timeout))) })
	return ctx, func(cause error) {
		timer.Stop()
		end(cause)
	}
}

// AwaitAll waits for all replicas of a unit concurrently. The first failure
// cancels the other waits, and is the error of the unit.
func AwaitAll(n int, cancel context.CancelCauseFunc, wait func(i int) error) error {
	return FirstCause(Each(n, func(i int) error {
		err := wait(i)
		if err != nil {
			cancel(nil)
			err = fmt.Errorf("replica %d: %w", i, err)
		}
		return err
	}))
}

// FirstCause returns the first error that is not the cancellation which followed
// the failure of another replica.
func FirstCause(errs []error) error {
	var first error
	for _, err := range errs {
		if err != nil && (first == nil || errors.Is(first, context.Canceled)) {
			first = err
		}
	}
	return first
}

// JoinDistinct joins errors and leaves out repetitions: cells of an experiment
// often fail for the same reason.
func JoinDistinct(errs []error) error {
	seen := map[string]bool{}
	var kept []error
	for _, err := range errs {
		if err != nil && !seen[err.Error()] {
			seen[err.Error()] = true
			kept = append(kept, err)
		}
	}
	return errors.Join(kept...)
}
