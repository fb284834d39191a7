package pods

import (
	"context"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/logbudget"
	"github.com/millicore/millicore/internal/kubernetes/podstatus"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// follower copies a container's output from the kubelet into a file, over all
// restarts. It may begin before the container exists.
type follower struct {
	pods *podstatus.Watch
	pod  string
	tail kube.Tail
	into *logbudget.Log

	stop context.CancelFunc
	done chan struct{}

	heard chan struct{} // closed when a container has ended and all of its output was read
	once  sync.Once     // that closes it
}

// newFollower returns a follower that is not started.
func newFollower(api *kube.Client, pods *podstatus.Watch, pod, container string, into *logbudget.Log) *follower {
	return &follower{pods: pods, pod: pod, into: into, done: make(chan struct{}), heard: make(chan struct{}),
		tail: kube.Tail{Client: api, Container: container, Line: into.Line}}
}

// follow starts a follower. It runs until end is called.
func follow(api *kube.Client, pods *podstatus.Watch, pod, container string, into *logbudget.Log) *follower {
	f := newFollower(api, pods, pod, container, into)
	f.start()
	return f
}

func (f *follower) start() {
	ctx, stop := context.WithCancel(context.Background())
	f.stop = stop
	go func() {
		defer close(f.done)
		f.run(ctx)
	}()
}

// again is the wait before the next request for a container's output.
const again = 300 * time.Millisecond

// run requests the output whenever there may be more. The API server ends a stream
// with the container, and sometimes before.
func (f *follower) run(ctx context.Context) {
	f.tail.Turn(ctx, f.pod, 0)
	defer f.tail.Flush()
	ended := "" // the container that had ended when its output was read to its end
	for {
		pod, changed := f.pods.Get(f.pod)
		if pod == nil { // what it said last was read before, if it could be
			return
		}
		now := podstatus.Of(pod, f.tail.Container)
		if now.ContainerID == "" || now.ContainerID == ended {
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
			continue
		}
		f.tail.Turn(ctx, f.pod, now.RestartCount)
		if err := f.tail.Read(ctx, true); err == nil && now.State.Running == nil {
			f.tail.Flush()
			f.into.Flush()
			f.hear()
			ended = now.ContainerID
		}
		if !supervise.Sleep(ctx, again) {
			return
		}
	}
}

func (f *follower) hear() { f.once.Do(func() { close(f.heard) }) }

// outputDelay is how long the last output of a container may take to arrive.
const outputDelay = time.Second

// end ends the follower, a moment after the container's end.
func (f *follower) end() {
	select {
	case <-f.done:
	case <-time.After(outputDelay / 2):
	}
	f.stop()
	<-f.done
	f.into.Close()
}
