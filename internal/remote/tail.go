package remote

import (
	"context"

	"github.com/millicore/millicore/internal/kube"
)

// tail follows the conductor's log in a pod whose container was started again so
// often, until it is stopped, which waits for the last line under way.
func (f *Follower) tail(ctx context.Context, log *kube.Tail, pod string, restarts int32) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		log.Turn(ctx, pod, restarts)
		for ctx.Err() == nil {
			wait := f.every
			if log.Read(ctx, true) != nil {
				wait *= 4
			}
			sleep(ctx, wait)
		}
	}()
	return func() { cancel(); <-done }
}
