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

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/protocol"
)

// Client is the lab's end of the conversation with one agent. A trial is Prepare,
// Start and Follow, in this order; then Prepare may be called again. Change, Move
// and Stop may be called from other goroutines while Follow runs.
type Client struct {
	stream io.ReadWriteCloser
	events chan event
	left   chan struct{} // closed when events are no longer received
	leave  sync.Once
	ended  chan struct{} // closed when the agent's output has ended
	last   error         // the error that ended it, if any; set before ended is closed
	mu     sync.Mutex    // serializes writes
}

type event struct {
	protocol.Event
	err error
}

// NewClient starts a conversation over a stream. Close ends it.
func NewClient(stream io.ReadWriteCloser) *Client {
	c := &Client{stream: stream, events: make(chan event), left: make(chan struct{}), ended: make(chan struct{})}
	go c.read()
	return c
}

func (c *Client) read() {
	defer close(c.events)
	err := c.readLines()
	c.last = err
	close(c.ended)
	if err != nil {
		c.deliver(event{err: err})
	}
}

// readLines delivers events until the stream ends or the agent reports an error.
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
		if !c.deliver(event{Event: e}) {
			return nil
		}
	}
	return lines.Err()
}

func (c *Client) deliver(e event) bool {
	select {
	case c.events <- e:
		return true
	case <-c.left:
		return false
	}
}

// Prepare describes a trial to the agent, and returns when the agent is ready.
func (c *Client) Prepare(ctx context.Context, p protocol.Prepare) (protocol.Ready, error) {
	if err := c.send(protocol.Command{Prepare: &p}); err != nil {
		return protocol.Ready{}, err
	}
	e, err := c.next(ctx)
	if err == nil && e.Ready == nil {
		err = errors.New("the agent did not answer prepare with ready")
	}
	if err == nil {
		err = sameBuild(build, e.Ready.Build)
	}
	if err != nil {
		return protocol.Ready{}, err
	}
	return *e.Ready, nil
}

// Start starts the prepared trial at a time, which should be some milliseconds in the
// future and must be the same for all agents of the trial.
func (c *Client) Start(at time.Time) error {
	return c.send(protocol.Command{Start: &protocol.Start{At: at.UnixNano()}})
}

// Change replaces the load from now on. After the end of the trial it has no effect.
func (c *Client) Change(change protocol.Change) error {
	return c.send(protocol.Command{Change: &change})
}

// Move replaces the targets from now on. They are indexed by replica; an empty string
// is a replica that has gone. After the end of the trial Move has no effect.
func (c *Client) Move(targets []string) error {
	return c.send(protocol.Command{Move: &protocol.Move{Targets: targets}})
}

// Stop ends the load; Follow continues until the requests in flight have ended.
func (c *Client) Stop() error { return c.send(protocol.Command{Stop: &protocol.Stop{}}) }

// Follow calls take with each frame of the trial, and returns when the trial is done.
// After an error of the agent or of take, or after ctx has ended, the client must be
// closed.
func (c *Client) Follow(ctx context.Context, take func(*signals.Frame) error) (protocol.Done, error) {
	for {
		e, err := c.next(ctx)
		switch {
		case err != nil:
			return protocol.Done{}, err
		case e.Done != nil:
			return *e.Done, nil
		case e.Frame == nil:
			return protocol.Done{}, errors.New("the agent sent ready during a trial")
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
			return protocol.Event{}, errors.New("agent: it ended without an error message; see its standard error")
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

// why returns the reason why a command could not be sent: the agent's own error, if
// it reported one.
func (c *Client) why(err error) error {
	select {
	case <-c.ended:
		if c.last != nil {
			return c.last
		}
	case <-time.After(time.Second):
	}
	return err
}
