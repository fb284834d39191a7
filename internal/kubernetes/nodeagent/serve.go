package nodeagent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// queue is how many events wait for a conductor that reads slowly. The stream ends if
// the conductor reads nothing for longer than patience.
const (
	queue    = 256
	patience = 30 * time.Second
)

// Serve watches the containers that the conductor at the other end of the stream
// requests, and closes the stream at the end. It returns when the stream or ctx ends;
// without an error if the conductor closed the stream or ctx ended.
func Serve(ctx context.Context, stream io.ReadWriteCloser, finder *Finder) error {
	whole := ctx
	ctx, end := context.WithCancelCause(whole)
	defer end(nil)
	// Closing the stream ends both reading and writing.
	closed := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(closed)
		_ = stream.Close() // there is nothing left to send
	})

	out := make(chan Event, queue)
	say := func(e Event) {
		select {
		case out <- e:
		case <-ctx.Done():
		}
	}
	commands := make(chan *Command)
	reading, writing := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(reading)
		err := receive(stream, func(c *Command) error {
			select {
			case commands <- c:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if errors.Is(err, errNotUnderstood) {
			say(Event{Error: err.Error()}) // the last event
			return
		}
		end(err)
	}()
	go func() {
		defer close(writing)
		end(write(ctx, stream, out))
	}()
	watch(ctx, commands, finder, say)
	<-reading
	<-writing
	<-closed
	if cause := context.Cause(ctx); whole.Err() == nil && !errors.Is(cause, context.Canceled) {
		return fmt.Errorf("communicate with the conductor: %w", cause)
	}
	return nil
}

// write writes events until ctx ends, each as soon as it comes. An Error is the last
// line.
func write(ctx context.Context, stream io.Writer, events <-chan Event) error {
	buffer := bufio.NewWriter(stream)
	lines := json.NewEncoder(buffer)
	for {
		var e Event
		select {
		case e = <-events:
		case <-ctx.Done():
			return nil
		}
		if err := lines.Encode(&e); err != nil {
			return err
		}
		if len(events) > 0 && e.Error == "" {
			continue
		}
		patient(stream)
		if err := buffer.Flush(); err != nil {
			return err
		}
		if e.Error != "" {
			return errors.New(e.Error)
		}
	}
}

// patient bounds the next write if the stream is a network connection.
func patient(stream io.Writer) {
	if s, ok := stream.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = s.SetWriteDeadline(time.Now().Add(patience))
	}
}
