package kubernetes

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/kube"
	"github.com/millicore/millicore/internal/platform/life"
)

// follower copies a container's output into a file, through all its lives, as the
// kubelet has it. It may begin before there is a container.
type follower struct {
	api       *kube.Client
	pods      *pods
	pod       string
	container string
	log       *life.Log

	stop context.CancelFunc
	done chan struct{}

	heard chan struct{} // closed when a container's output was read to its end
	once  sync.Once     // that closes it

	mu   sync.Mutex
	last time.Time // of the last line that was copied
}

// follow starts a follower, which ends when it is told to.
func follow(api *kube.Client, pods *pods, pod, container string, log *life.Log) *follower {
	ctx, stop := context.WithCancel(context.Background())
	f := &follower{api: api, pods: pods, pod: pod, container: container, log: log, stop: stop, done: make(chan struct{}), heard: make(chan struct{})}
	go func() {
		defer close(f.done)
		f.run(ctx)
	}()
	return f
}

// again is the wait before a container's output is asked for once more.
const again = 300 * time.Millisecond

// run asks for the output whenever there may be more: the API server ends a
// stream with the container, and sometimes before.
func (f *follower) run(ctx context.Context) {
	asked := "" // the container whose output was read to its end
	for {
		pod, changed := f.pods.get(f.pod)
		var now corev1.ContainerStatus
		if pod == nil { // what it said last was read before, if it could be
			return
		}
		now = statusOf(pod, f.container)
		if now.ContainerID == "" || now.ContainerID == asked && now.State.Running == nil {
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
			continue
		}
		if f.copy(ctx) == nil {
			asked = now.ContainerID
			f.once.Do(func() { close(f.heard) })
		}
		if !life.Sleep(ctx, again) {
			return
		}
	}
}

// copy copies what was not copied yet, until the container ends.
func (f *follower) copy(ctx context.Context) error {
	options := kube.LogOptions{Container: f.container, Follow: true, Times: true}
	if since := f.since(); !since.IsZero() {
		options.Since = &since
	}
	stream, err := f.api.Logs(ctx, f.pod, options)
	if err != nil {
		return err
	}
	defer stream.Close()
	lines := bufio.NewReaderSize(stream, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			f.write(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (f *follower) since() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// write copies a line that begins with its time, unless it was copied before. A
// full disk is no reason to stop.
func (f *follower) write(line []byte) {
	stamp, text, ok := bytes.Cut(line, []byte(" "))
	at, err := time.Parse(time.RFC3339Nano, string(stamp))
	f.mu.Lock()
	defer f.mu.Unlock()
	if !ok || err != nil {
		_, _ = f.log.File.Write(line)
		return
	}
	if !at.After(f.last) {
		return
	}
	f.last = at
	_, _ = f.log.File.Write(text)
}

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
