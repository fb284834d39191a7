package launch

import (
	"context"

	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// tail follows the conductor's log in a pod after a number of restarts, until stop is
// called. stop waits for the current line.
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
