package kubernetes

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// follower copies a container's output from the kubelet into a file, over all
// restarts. It may begin before the container exists.
type follower struct {
	pods *pods
	pod  string
	tail kube.Tail
	log  *supervise.Log

	stop context.CancelFunc
	done chan struct{}

	heard chan struct{} // closed when a container has ended and all of its output was read
	once  sync.Once     // that closes it
}

// mostLog bounds a replica's log, in bytes: a service that writes a line for each
// request would fill the conductor's disk.
const mostLog = 64 << 20

// newFollower returns a follower that is not started.
func newFollower(api *kube.Client, pods *pods, pod, container string, log *supervise.Log) *follower {
	f := &follower{pods: pods, pod: pod, log: log, done: make(chan struct{}), heard: make(chan struct{})}
	f.tail = kube.Tail{Client: api, Container: container, Most: mostLog, Line: func(text string) {
		_, _ = log.File.WriteString(text + "\n") // a full disk is no reason to stop
	}}
	return f
}

// follow starts a follower. It runs until end is called.
func follow(api *kube.Client, pods *pods, pod, container string, log *supervise.Log) *follower {
	f := newFollower(api, pods, pod, container, log)
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
		pod, changed := f.pods.get(f.pod)
		if pod == nil { // what it said last was read before, if it could be
			return
		}
		now := statusOf(pod, f.tail.Container)
		if now.ContainerID == "" || now.ContainerID == ended {
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
			continue
		}
		f.tail.Turn(ctx, f.pod, now.RestartCount)
		err := f.tail.Read(ctx, true)
		switch {
		case errors.Is(err, kube.ErrFull):
			f.log.Note("the rest of this log is left out: it has more than %d MiB", f.tail.Most>>20)
			f.hear()
			return
		case err == nil && now.State.Running == nil:
			f.tail.Flush()
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
}
