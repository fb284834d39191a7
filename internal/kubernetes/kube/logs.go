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

// LogOptions choose the part of a container's log.
type LogOptions struct {
	Container string
	Follow    bool       // until the container ends
	Previous  bool       // of the container before its restart
	Since     *time.Time // from that second on
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

// Tail returns each line of a container's log once, over broken connections and
// restarts of the container. Each line has the time at which it was written, by
// which reading continues. Only one goroutine at a time may use it.
type Tail struct {
	Client    *Client
	Container string
	Line      func(text string) // takes a line, without its end

	pod      string
	restarts int32

	// A server selects lines by whole seconds, and sends the lines of the last second
	// again. They are identified by their times, and by the number of lines with each
	// time. (The latest line is not enough: of two lines that a container writes to its
	// two outputs, the earlier one may arrive later.)
	second time.Time     // the latest with a line that was returned
	given  map[int64]int // of that second: lines by their times, in nanoseconds

	held *logLine // a last line without an end of line; nil: none
}

// logLine is a line of a log.
type logLine struct {
	at   time.Time
	text string
}

// mostLine bounds one line, in bytes.
const mostLine = 1 << 20

// Turn selects a pod and the number of restarts of its container. The first log of
// a pod is read from its begin. After a restart the rest of the previous container's
// log comes first.
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

// Read returns the lines that were not returned yet. With follow it continues until
// the container has ended, or earlier: a server may end the answer at any time. The
// error is that of the connection, or of the server.
func (t *Tail) Read(ctx context.Context, follow bool) error {
	return t.read(ctx, LogOptions{Follow: follow})
}

// Flush returns a last line without an end of line, after the container has ended.
func (t *Tail) Flush() {
	if t.held != nil {
		t.give(*t.held)
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
		if err != nil && !errors.Is(err, io.EOF) { // the incomplete line will come again
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
			t.give(line)
		}
		if err != nil {
			return nil
		}
	}
}

// readLine reads a line without its end. With an error it returns the part that was
// read.
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

// parseLine splits a line into its time and its text. ok is false for a line without
// a time: the kubelet's own messages about the log.
func parseLine(text string) (line logLine, ok bool) {
	stamp, text, _ := strings.Cut(text, " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	return logLine{at, text}, err == nil
}

// give returns a line that was not returned yet.
func (t *Tail) give(line logLine) {
	t.held = nil // it is this line, or an earlier one
	second := line.at.Truncate(time.Second)
	if second.After(t.second) {
		t.second, t.given = second, map[int64]int{}
	}
	if second.Equal(t.second) {
		t.given[line.at.UnixNano()]++
	}
	t.Line(line.text)
}
