package remote

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/kube"
)

// tail gives the lines of a container's log once each, over broken connections
// and restarts of the container. Every line has the time at which it was written;
// a log that is read again begins at the last one's second, and what was given
// before is left out.
type tail struct {
	client    *kube.Client
	container string
	line      func(string)
	wait      time.Duration // before a log that ended is read again

	pod      string
	restarts int32
	last     time.Time // of the last line given
	same     int       // lines given that have this time
}

// on turns to a pod. One whose container was started again is the same pod: its
// clock goes on, and so does the place in its log.
func (t *tail) on(ctx context.Context, pod string, restarts int32) {
	if pod != t.pod {
		t.pod, t.restarts, t.last, t.same = pod, restarts, time.Time{}, 0
		return
	}
	if restarts != t.restarts {
		t.restarts = restarts
		_ = t.read(ctx, kube.LogOptions{Previous: true}) // the end of what the one before had written
	}
}

// start follows a pod's log until it is stopped, which waits for the last line
// under way.
func (t *tail) start(ctx context.Context, pod string, restarts int32) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.on(ctx, pod, restarts)
		t.follow(ctx)
	}()
	return func() { cancel(); <-done }
}

// follow gives lines until ctx ends, or the container has.
func (t *tail) follow(ctx context.Context) {
	for {
		err := t.read(ctx, kube.LogOptions{Follow: true})
		if ctx.Err() != nil {
			return
		}
		wait := t.wait
		if err != nil {
			wait *= 4
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// rest gives the lines that are there and were not given.
func (t *tail) rest(ctx context.Context) { _ = t.read(ctx, kube.LogOptions{}) }

// read gives the new lines of one answer. Its error is that of the connection.
func (t *tail) read(ctx context.Context, o kube.LogOptions) error {
	o.Container, o.Times = t.container, true
	if !t.last.IsZero() {
		o.Since = &t.last
	}
	log, err := t.client.Logs(ctx, t.pod, o)
	if err != nil {
		return err
	}
	defer log.Close()
	lines, seen := bufio.NewReaderSize(log, 64<<10), 0
	for {
		text, err := lines.ReadString('\n')
		if err != nil { // what has no end is read again, whole
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		seen = t.give(strings.TrimSuffix(text, "\n"), seen)
	}
}

// give gives a line unless it was; seen counts the lines of this answer that have
// the time of the last one given.
func (t *tail) give(text string, seen int) int {
	stamp, rest, _ := strings.Cut(text, " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	switch {
	case err != nil: // words of the kubelet's about the log itself
		return seen
	case at.Before(t.last):
		return seen
	case at.Equal(t.last):
		if seen++; seen <= t.same {
			return seen
		}
		t.same = seen
	default:
		t.last, t.same, seen = at, 1, 1
	}
	t.line(rest)
	return seen
}
