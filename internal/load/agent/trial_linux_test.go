package agent

import (
	"net"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/protocol"
)

// serve runs an agent in this process and returns the lab's end.
func serve(t *testing.T) *Client {
	t.Helper()
	lab, agent := net.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Serve(agent, agent)
		agent.Close()
	}()
	c := NewClient(lab)
	t.Cleanup(func() {
		c.Close()
		<-done
	})
	return c
}

// sum adds all that the frames of a trial saw.
func sum(frames []*signals.Frame) *signals.Client {
	all := &signals.Client{
		Latency: signals.NewHistogram(), Service: signals.NewHistogram(), SendLag: signals.NewHistogram(),
		Status: map[string]int64{}, Wanted: map[string]int64{},
	}
	for _, f := range frames {
		all.Add(f.Client)
	}
	return all
}

// trial runs a trial to its end and returns its frames.
func trial(tb testing.TB, c *Client, p protocol.Prepare) []*signals.Frame {
	tb.Helper()
	if _, err := c.Prepare(tb.Context(), p); err != nil {
		tb.Fatal(err)
	}
	if err := c.Start(time.Now().Add(20 * time.Millisecond)); err != nil {
		tb.Fatal(err)
	}
	var frames []*signals.Frame
	if _, err := c.Follow(tb.Context(), func(f *signals.Frame) error {
		frames = append(frames, f)
		return nil
	}); err != nil {
		tb.Fatal(err)
	}
	return frames
}

// measured keeps what counts of a trial's frames.
func measured(frames []*signals.Frame) (kept []*signals.Frame, seconds float64) {
	for _, f := range frames {
		if f.Phase == signals.Measure {
			kept = append(kept, f)
			seconds += f.Seconds()
		}
	}
	return kept, seconds
}
