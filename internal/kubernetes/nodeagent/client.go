package nodeagent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform/meter"
)

// ErrNoNewer reports that the last sample was already returned.
var ErrNoNewer = errors.New("no newer sample")

// ErrEnded is in the errors of a Client whose stream has ended, for any reason. The
// node agent connects again; then the containers must be watched again.
var ErrEnded = errors.New("the stream of the node agent ended")

// Client is the conductor's end of a node agent's stream. Several goroutines may
// call its methods concurrently.
type Client struct {
	stream io.ReadWriteCloser
	offset time.Duration // the node's clock minus ours
	done   chan struct{} // closed when the stream has ended

	sending sync.Mutex // one line at a time

	mu      sync.Mutex
	err     error // why it ended
	last    int64 // id of the last Watched
	watched map[int64]*Watched
	host    newest[Reading]
}

// Reading is one sample of a node: its CPU times, and the CPU seconds of each watched
// container since its start, by the container's id.
type Reading struct {
	meter.HostTimes
	Used map[string]float64
}

// newest is the last value that came, until it is returned.
type newest[T any] struct {
	value T
	fresh bool
}

func (n *newest[T]) put(v T) { n.value, n.fresh = v, true }

func (n *newest[T]) take() (T, bool) {
	fresh := n.fresh
	n.fresh = false
	return n.value, fresh
}

// NewClient returns the client of a node agent's stream. Offset is the node's clock
// minus this machine's; all times that the client returns are on this machine's.
func NewClient(stream io.ReadWriteCloser, offset time.Duration) *Client {
	c := &Client{stream: stream, offset: offset, done: make(chan struct{}), watched: map[int64]*Watched{}}
	go func() { c.end(receive(stream, c.take)) }()
	return c
}

// take stores an event.
func (c *Client) take(e *Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case e.Error != "":
		return fmt.Errorf("it gave up: %s", e.Error)
	case e.Host != nil:
		c.host.put(c.reading(e.Host))
	case e.Counters != nil:
		if w := c.watched[e.Counters.ID]; w != nil { // else it was closed meanwhile
			w.counters.put(e.Counters.signals(c.offset))
			w.missing = ""
			w.own.put(e.Counters.Own, w.counters.value.At)
		}
	case e.Windows != nil:
		if w := c.watched[e.Windows.ID]; w != nil {
			w.take(e.Windows.Windows)
		}
	case e.Missing != nil:
		if w := c.watched[e.Missing.ID]; w != nil {
			w.missing = e.Missing.Why
		}
	}
	return nil
}

// reading combines the node's times with the CPU times of its containers, which have
// come just before.
func (c *Client) reading(h *Host) Reading {
	r := Reading{Used: make(map[string]float64, len(c.watched)),
		HostTimes: meter.HostTimes{At: time.Unix(0, h.At).Add(-c.offset), CPUs: h.CPUs, Idle: h.Idle, Steal: h.Steal, IRQ: h.IRQ, SoftIRQ: h.SoftIRQ}}
	for _, w := range c.watched {
		if cpu := w.counters.value.CPU; cpu != nil {
			r.Used[w.watch.Container] = *cpu
		}
	}
	return r
}

// end ends the client.
func (c *Client) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = ErrEnded
	if why != nil {
		c.err = fmt.Errorf("%w: %w", ErrEnded, why)
	}
	_ = c.stream.Close() // it is not used any more
	close(c.done)
}

// Done is closed when the stream has ended. The node's next stream replaces it.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err is the reason why the stream has ended; nil before that. It wraps [ErrEnded].
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the stream. It may be called again.
func (c *Client) Close() error {
	c.end(errors.New("the conductor closed it"))
	return nil
}

// Interval sets the time between two readings of counters; the default is a second.
// A reading can be as old as the interval, so a caller that reads once a second
// should set a fraction of a second.
func (c *Client) Interval(every time.Duration) {
	c.send(&Command{Interval: &Every{Nanoseconds: int64(every)}})
}

// Host returns the newest reading of the node. The error is [ErrNoNewer] if it was
// already returned, or the reason why the stream has ended.
func (c *Client) Host() (Reading, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, fresh := c.host.take(); fresh {
		return r, nil
	}
	if c.err != nil {
		return Reading{}, c.err
	}
	return Reading{}, ErrNoNewer
}

// send sends a command. An error ends the client; Err returns it.
func (c *Client) send(command *Command) {
	line, err := json.Marshal(command)
	if err != nil {
		c.end(err)
		return
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	if c.Err() != nil {
		return
	}
	patient(c.stream)
	if _, err := c.stream.Write(append(line, '\n')); err != nil {
		c.end(err)
	}
}

// Watched is a container that a node agent watches. Several goroutines may call its
// methods concurrently.
type Watched struct {
	client *Client
	watch  Watch

	// Guarded by the client's mutex.
	counters newest[signals.Counters]
	own      seen
	windows  []signals.Window
	missing  string // why there is nothing to read now
	closed   bool
}

// Watch watches a container. Its id may begin with the runtime's name, as in a pod's
// status (containerd://…). The container may use quota of CPU time in each period; a
// quota of 0 is no limit. The limit in the container's group on the node has
// priority, so that a changed limit need not be sent.
func (c *Client) Watch(container, podUID string, quota, period time.Duration) *Watched {
	return c.begin(Watch{Container: ContainerID(container), Pod: podUID, Quota: int64(quota), Period: int64(period)})
}

// Count reads only the counters of a container, without its windows.
func (c *Client) Count(container, podUID string) *Watched {
	return c.begin(Watch{Container: ContainerID(container), Pod: podUID, Plain: true})
}

// ContainerID removes the runtime's name from the id of a container.
func ContainerID(container string) string {
	if _, id, ok := strings.Cut(container, "://"); ok {
		return id
	}
	return container
}

func (c *Client) begin(what Watch) *Watched {
	c.mu.Lock()
	c.last++
	what.ID = c.last
	w := &Watched{client: c, watch: what}
	c.watched[what.ID] = w
	c.mu.Unlock()
	c.send(&Command{Watch: &what})
	return w
}

// take stores windows that have ended.
func (w *Watched) take(ended []Window) {
	offset := int64(w.client.offset)
	for _, v := range ended {
		w.windows = append(w.windows, signals.Window{
			Kind: v.Kind, Start: v.Start - offset, End: v.End - offset, Throttled: v.Throttled, CPUs: v.CPUs})
	}
}

// Counters returns the newest counters, without Restarts and Up, which a node agent
// does not know. The error is [ErrNoNewer] if they were already returned, and the
// reason otherwise.
func (w *Watched) Counters() (signals.Counters, error) {
	w.client.mu.Lock()
	defer w.client.mu.Unlock()
	if w.closed {
		return signals.Counters{}, fmt.Errorf("container %s is no longer watched: %w", short(w.watch.Container), os.ErrClosed)
	}
	if c, fresh := w.counters.take(); fresh {
		return c, nil
	}
	switch {
	case w.client.err != nil:
		return signals.Counters{}, w.client.err
	case w.missing != "":
		return signals.Counters{}, fmt.Errorf("the node agent cannot read container %s: %s", short(w.watch.Container), w.missing)
	}
	return signals.Counters{}, ErrNoNewer
}

// seen holds the last reading of the limits that a group sets itself.
type seen struct {
	own   *Own
	at    time.Time
	empty time.Time // since when no process is in the group; zero: there are some
}

func (s *seen) put(own *Own, at time.Time) {
	s.own, s.at = own, at
	switch {
	case own == nil || !own.Empty:
		s.empty = time.Time{}
	case s.empty.IsZero():
		s.empty = at
	}
}

// Own returns what the container's group sets itself, when that was read, and since when no
// process was in the group until then; nil if it is not known.
func (w *Watched) Own() (own *Own, at time.Time, empty time.Duration) {
	w.client.mu.Lock()
	defer w.client.mu.Unlock()
	if s := w.own; s.own != nil && !s.empty.IsZero() {
		empty = s.at.Sub(s.empty)
	}
	return w.own.own, w.own.at, empty
}

// Windows returns the windows that have ended since the last call, in the order of
// their ends. Kind, Start, End, Throttled and CPUs are set.
func (w *Watched) Windows() []signals.Window {
	w.client.mu.Lock()
	defer w.client.mu.Unlock()
	all := w.windows
	w.windows = nil
	return all
}

// Close ends the watching. Windows that have come can still be taken. It may be
// called again.
func (w *Watched) Close() {
	w.client.mu.Lock()
	closed := w.closed
	w.closed = true
	delete(w.client.watched, w.watch.ID)
	w.client.mu.Unlock()
	if !closed {
		w.client.send(&Command{Forget: &ID{ID: w.watch.ID}})
	}
}
