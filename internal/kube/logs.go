package kube

import (
	"bufio"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// LogOptions say which part of a container's log is read.
type LogOptions struct {
	Container string
	Follow    bool       // until the container ends
	Previous  bool       // of the container before it was started again
	Since     *time.Time // from then on, to the second
	Times     bool       // each line begins with its time, RFC 3339 with nanoseconds
	Last      int64      // lines; 0: all
}

// Logs reads a container's output. The caller closes it.
func (c *Client) Logs(ctx context.Context, pod string, o LogOptions) (io.ReadCloser, error) {
	query := url.Values{}
	if o.Container != "" {
		query.Set("container", o.Container)
	}
	for name, is := range map[string]bool{"follow": o.Follow, "previous": o.Previous, "timestamps": o.Times} {
		if is {
			query.Set(name, "true")
		}
	}
	if o.Since != nil {
		query.Set("sinceTime", o.Since.UTC().Format(time.RFC3339))
	}
	if o.Last > 0 {
		query.Set("tailLines", strconv.FormatInt(o.Last, 10))
	}
	answer, err := c.do(ctx, http.MethodGet, Pods.path(c, pod, "log"), query, nil, nil)
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// Tail gives the lines of a container's log once each, over broken connections and
// over the container's lives. Each line of a log has the time at which it was
// written, by which a log that is read again goes on. One goroutine at a time may
// use it.
type Tail struct {
	Client    *Client
	Container string
	Line      func(text string) // takes a line, without its end
	Most      int64             // bytes of lines and their ends that are given in all; 0: however many

	pod      string
	restarts int32
	taken    int64 // bytes that were given

	// A server that is asked for what was written since a time knows whole seconds:
	// it gives the lines of the last one once more. They are told by their times, and
	// by how many there were of each. (The latest line is no measure: of two that a
	// container writes to its two outputs at once, the earlier may come later.)
	second time.Time     // the latest of which a line was given
	given  map[int64]int // of that second: lines by their times, in nanoseconds

	held *logLine // what the log ended with that has no end of a line; nil: nothing
}

// logLine is one of a log.
type logLine struct {
	at   time.Time
	text string
}

// ErrFull ends the reading of a log that has more than Tail.Most.
var ErrFull = errors.New("there is more of the log than is taken")

// mostLine is what is given of one line, in bytes.
const mostLine = 1 << 20

// Turn turns to a pod, whose container was started again so often. The first log of
// a pod is given from its begin. Where the container was started again meanwhile
// what the one before had written last is given first.
func (t *Tail) Turn(ctx context.Context, pod string, restarts int32) {
	switch {
	case pod != t.pod:
		t.Flush()
		t.pod, t.second, t.given = pod, time.Time{}, nil
	case restarts != t.restarts:
		_ = t.read(ctx, LogOptions{Previous: true}) // it may be gone
		t.Flush()
	}
	t.restarts = restarts
}

// Read gives the lines that are there and were not given; with follow those that
// come, too, until the container has ended, or sooner: a server may end the answer
// at any time. The error is that of the connection, the server's, or ErrFull.
func (t *Tail) Read(ctx context.Context, follow bool) error {
	return t.read(ctx, LogOptions{Follow: follow})
}

// Flush gives what the log ended with as a line, though that has no end: nothing
// more comes of a container that has ended.
func (t *Tail) Flush() {
	if t.held != nil {
		_ = t.give(*t.held)
	}
}

func (t *Tail) read(ctx context.Context, o LogOptions) error {
	o.Container, o.Times = t.Container, true
	since, again := t.second, maps.Clone(t.given)
	if !since.IsZero() {
		o.Since = &since
	}
	log, err := t.Client.Logs(ctx, t.pod, o)
	if err != nil {
		return err
	}
	defer log.Close()
	lines := bufio.NewReaderSize(log, 64<<10)
	for {
		text, err := readLine(lines)
		if err != nil && !errors.Is(err, io.EOF) { // what has come of the line comes again
			return err
		}
		line, ok := parseLine(text)
		switch {
		case !ok || line.at.Before(since):
		case again[line.at.UnixNano()] > 0:
			again[line.at.UnixNano()]--
		case err != nil:
			t.held = &line
		default:
			if err := t.give(line); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// readLine reads a line without its end. An error comes with what there is of one.
func readLine(r *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part[:min(len(part), mostLine-len(line))]...)
		if err != bufio.ErrBufferFull {
			return strings.TrimSuffix(string(line), "\n"), err
		}
	}
}

// parseLine divides a line into its time and its text; ok is false of one that has
// no time: those are the kubelet's own, about the log itself.
func parseLine(text string) (line logLine, ok bool) {
	stamp, text, _ := strings.Cut(text, " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	return logLine{at, text}, err == nil
}

// give gives a line that was not given.
func (t *Tail) give(line logLine) error {
	t.held = nil // it is this one, or came before it
	if t.taken += int64(len(line.text)) + 1; t.Most > 0 && t.taken > t.Most {
		return ErrFull
	}
	second := line.at.Truncate(time.Second)
	if second.After(t.second) {
		t.second, t.given = second, map[int64]int{}
	}
	if second.Equal(t.second) {
		t.given[line.at.UnixNano()]++
	}
	t.Line(line.text)
	return nil
}
