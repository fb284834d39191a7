package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/millicore/millicore/internal/load/protocol"
)

// maxLine is the maximum length of a line in bytes: a command with a large body or a long
// recording, or a frame with three full histograms and its slow requests.
const maxLine = 512 << 20

// decodeCommand decodes a line to the agent.
func decodeCommand(line []byte) (protocol.Command, error) {
	var c protocol.Command
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return c, fmt.Errorf("command: %w", err)
	}
	if decoder.More() {
		return c, errors.New("command: more than one JSON value on a line")
	}
	if count(c.Prepare != nil, c.Start != nil, c.Change != nil, c.Move != nil, c.Stop != nil) != 1 {
		return c, errors.New("command: want exactly one of prepare, start, change, move and stop")
	}
	return c, nil
}

// decodeEvent decodes a line from the agent.
func decodeEvent(line []byte) (protocol.Event, error) {
	var e protocol.Event
	if err := json.Unmarshal(line, &e); err != nil {
		return e, fmt.Errorf("event: %w", err)
	}
	if count(e.Ready != nil, e.Frame != nil, e.Done != nil, e.Error != "") != 1 {
		return e, errors.New("event: want exactly one of ready, frame, done and error")
	}
	return e, nil
}

func count(all ...bool) int {
	n := 0
	for _, is := range all {
		if is {
			n++
		}
	}
	return n
}

// name is the command's name in the protocol.
func name(c protocol.Command) string {
	switch {
	case c.Prepare != nil:
		return "prepare"
	case c.Start != nil:
		return "start"
	case c.Change != nil:
		return "change"
	case c.Move != nil:
		return "move"
	}
	return "stop"
}

// maxPending is the maximum number of lines that wait for the lab to read them.
const maxPending = 4096

// writer sends events from its own goroutine, so that a lab that reads slowly does
// not delay the traffic.
type writer struct {
	failed chan struct{} // closed when err is set
	err    error
	lines  chan []byte
	done   sync.WaitGroup
}

func newWriter(out io.Writer) *writer {
	w := &writer{lines: make(chan []byte, maxPending), failed: make(chan struct{})}
	w.done.Go(func() {
		for line := range w.lines {
			if w.err != nil {
				continue
			}
			if _, err := out.Write(line); err != nil {
				w.err = fmt.Errorf("write to the lab: %w", err)
				close(w.failed)
			}
		}
	})
	return w
}

// send queues an event. It fails if maxPending lines are waiting.
func (w *writer) send(e protocol.Event) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	select {
	case w.lines <- append(line, '\n'):
		return nil
	default:
		return errors.New("the lab does not read the frames")
	}
}

// close writes the queued lines.
func (w *writer) close() {
	close(w.lines)
	w.done.Wait()
}
