package agent

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/load/protocol"
	"github.com/millicore/millicore/internal/signals"
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

func follow(t *testing.T, c *Client, p protocol.Prepare) []*signals.Frame {
	t.Helper()
	ready, err := c.Prepare(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", ready)
	if err := c.Start(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	var frames []*signals.Frame
	done, err := c.Follow(context.Background(), func(f *signals.Frame) error {
		frames = append(frames, f)
		k := f.Client
		t.Logf("%d %s %.3fs intended %d sent %d good %d bad %d carried %d inflight %d waiting %d lat p50 %v p99 %v lag p50 %v p99 %v cpu %.3f wait %v", f.Seq, f.Phase, f.Seconds(), k.Intended, k.Sent, k.Good, k.Bad(), k.Carried, k.InFlight, k.Waiting,
			k.Latency.Quantile(.5), k.Latency.Quantile(.99), k.SendLag.Quantile(.5), k.SendLag.Quantile(.99), k.CPU, k.RunWait)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", done)
	return frames
}

func TestThin(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") }))
	defer server.Close()
	c := serve(t)
	p := protocol.Prepare{
		Trial: 1, Agents: 1, Targets: []string{server.Listener.Addr().String()},
		Timeout: protocol.Duration(time.Second), Interval: protocol.Duration(200 * time.Millisecond),
		Warmup: protocol.Duration(300 * time.Millisecond),
	}
	p.Load = protocol.Load{Kind: protocol.Closed, Stages: []protocol.Stage{{Duration: protocol.Duration(time.Second), From: 4, To: 4}}}
	follow(t, c, p)
	p.Load = protocol.Load{Kind: protocol.Open, Even: true, Stages: []protocol.Stage{{Duration: protocol.Duration(time.Second), From: 1000, To: 1000}}}
	follow(t, c, p)
	p.Load = protocol.Load{Kind: protocol.Open, Stages: []protocol.Stage{{Duration: protocol.Duration(time.Second), From: 1000, To: 2000}}}
	p.Threads = 2
	follow(t, c, p)
	p.Load = protocol.Load{Kind: protocol.Closed, Requests: 200, Stages: []protocol.Stage{{From: 50, To: 50}}}
	p.Warmup = 0
	follow(t, c, p)
}
