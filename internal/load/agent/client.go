package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/load/protocol"
	"github.com/millicore/millicore/internal/signals"
)

// Client is the lab's end of the conversation with one agent. Prepare, Start
// and Follow make a trial, in this order; then Prepare may follow again. Change
// and Stop may be called from other goroutines while Follow runs.
type Client struct {
	stream io.ReadWriteCloser
	events chan event
	left   chan struct{} // closed when nobody takes events any more
	leave  sync.Once
	said   chan struct{} // closed when nothing follows what the agent said
	last   error         // its last word, where that was an error
	mu     sync.Mutex    // of writing
}

type event struct {
	protocol.Event
	err error
}

// NewClient begins a conversation over a stream. Close ends it.
func NewClient(stream io.ReadWriteCloser) *Client {
	c := &Client{stream: stream, events: make(chan event), left: make(chan struct{}), said: make(chan struct{})}
	go c.read()
	return c
}

func (c *Client) read() {
	defer close(c.events)
	err := c.readLines()
	c.last = err
	close(c.said)
	if err != nil {
		c.tell(event{err: err})
	}
}

// readLines hands events over until the stream ends or the agent gives up.
func (c *Client) readLines() error {
	lines := bufio.NewScanner(c.stream)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		e, err := decodeEvent(lines.Bytes())
		if err != nil {
			return err
		}
		if e.Error != "" {
			return errors.New(e.Error)
		}
		if !c.tell(event{Event: e}) {
			return nil
		}
	}
	return lines.Err()
}

func (c *Client) tell(e event) bool {
	select {
	case c.events <- e:
		return true
	case <-c.left:
		return false
	}
}

// Prepare describes a trial to the agent, which makes its connections, and
// returns when it is ready.
func (c *Client) Prepare(ctx context.Context, p protocol.Prepare) (protocol.Ready, error) {
	if err := c.send(protocol.Command{Prepare: &p}); err != nil {
		return protocol.Ready{}, err
	}
	e, err := c.next(ctx)
	if err == nil && e.Ready == nil {
		err = errors.New("the agent answered prepare with something else")
	}
	if err != nil {
		return protocol.Ready{}, err
	}
	return *e.Ready, nil
}

// Start begins the prepared trial at a moment, which should lie some
// milliseconds ahead and is the same for all agents of the trial.
func (c *Client) Start(at time.Time) error {
	return c.send(protocol.Command{Start: &protocol.Start{At: at.UnixNano()}})
}

// Change replaces the load from now on. One that comes when the trial is over
// changes nothing.
func (c *Client) Change(change protocol.Change) error {
	return c.send(protocol.Command{Change: &change})
}

// Move replaces the targets from now on, by the indexes of the replicas; empty is
// one that has gone. One that comes when the trial is over changes nothing.
func (c *Client) Move(targets []string) error {
	return c.send(protocol.Command{Move: &protocol.Move{Targets: targets}})
}

// Stop ends the load; Follow goes on until the answers in flight are in.
func (c *Client) Stop() error { return c.send(protocol.Command{Stop: &protocol.Stop{}}) }

// Follow gives each frame of the trial to take and returns when the trial is
// done. After an error, of the agent or of take, or when ctx ends, the
// conversation is of no use: close it.
func (c *Client) Follow(ctx context.Context, take func(*signals.Frame) error) (protocol.Done, error) {
	for {
		e, err := c.next(ctx)
		switch {
		case err != nil:
			return protocol.Done{}, err
		case e.Done != nil:
			return *e.Done, nil
		case e.Frame == nil:
			return protocol.Done{}, errors.New("the agent sent a ready in the middle of a trial")
		}
		if err := take(e.Frame); err != nil {
			return protocol.Done{}, err
		}
	}
}

// Close ends the conversation, and with it the agent's traffic.
func (c *Client) Close() error {
	c.leave.Do(func() { close(c.left) })
	return c.stream.Close()
}

func (c *Client) next(ctx context.Context) (protocol.Event, error) {
	select {
	case e, ok := <-c.events:
		if !ok {
			return protocol.Event{}, errors.New("agent: it ended without a word; see its standard error")
		}
		if e.err != nil {
			return protocol.Event{}, fmt.Errorf("agent: %w", e.err)
		}
		return e.Event, nil
	case <-ctx.Done():
		return protocol.Event{}, fmt.Errorf("agent: %w", context.Cause(ctx))
	}
}

func (c *Client) send(command protocol.Command) error {
	line, err := json.Marshal(command)
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.stream.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("agent: send %s: %w", name(command), c.why(err))
	}
	return nil
}

// why is why a command could not be sent: where the agent has given up, what it
// said of that.
func (c *Client) why(err error) error {
	select {
	case <-c.said:
		if c.last != nil {
			return c.last
		}
	case <-time.After(time.Second):
	}
	return err
}
