package kubernetes

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/kube"
	"github.com/millicore/millicore/internal/platform/life"
)

// follower copies a container's output into a file, through all its lives, as the
// kubelet has it. It may begin before there is a container.
type follower struct {
	pods *pods
	pod  string
	tail kube.Tail
	log  *life.Log

	stop context.CancelFunc
	done chan struct{}

	heard chan struct{} // closed when a container has ended, and its output was read to its end
	once  sync.Once     // that closes it
}

// mostLog is what a replica's log takes of the disk, in bytes: a service that
// writes a line for each request would fill that of a conductor.
const mostLog = 64 << 20

// newFollower makes a follower, which run has follow.
func newFollower(api *kube.Client, pods *pods, pod, container string, log *life.Log) *follower {
	f := &follower{pods: pods, pod: pod, log: log, done: make(chan struct{}), heard: make(chan struct{})}
	f.tail = kube.Tail{Client: api, Container: container, Most: mostLog, Line: func(text string) {
		_, _ = log.File.WriteString(text + "\n") // a full disk is no reason to stop
	}}
	return f
}

// follow starts a follower, which ends when it is told to.
func follow(api *kube.Client, pods *pods, pod, container string, log *life.Log) *follower {
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

// again is the wait before a container's output is asked for once more.
const again = 300 * time.Millisecond

// run asks for the output whenever there may be more: the API server ends a
// stream with the container, and sometimes before.
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
		if !life.Sleep(ctx, again) {
			return
		}
	}
}

func (f *follower) hear() { f.once.Do(func() { close(f.heard) }) }

// lastWords is how long the output of a container that has ended may take to
// come.
const lastWords = time.Second

// end ends the follower, a moment after the container's end.
func (f *follower) end() {
	select {
	case <-f.done:
	case <-time.After(lastWords / 2):
	}
	f.stop()
	<-f.done
}
