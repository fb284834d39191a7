package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/agent"
	"github.com/millicore/millicore/internal/load/protocol"
)

// conversation is the pair of an agent's pipes.
type conversation struct {
	io.ReadCloser
	in io.WriteCloser
}

func (c conversation) Write(p []byte) (int, error) { return c.in.Write(p) }
func (c conversation) Close() error                { return c.in.Close() }

// ahead is how long before its start time a trial is started.
const ahead = 20 * time.Millisecond

// talk is the lab's part in a trial: it sends an agent its commands, reads its frames,
// and ends it.
func talk(ctx context.Context, in io.WriteCloser, out io.ReadCloser, l load) (report, error) {
	c := agent.NewClient(conversation{out, in})
	defer c.Close()
	p := protocol.Prepare{
		Trial: 1, Agents: 1, Targets: []string{l.Addr}, Requests: []protocol.Request{{}}, Connections: l.Connections,
		Timeout: protocol.Duration(10 * time.Second), Interval: protocol.Duration(time.Second), Seed: 1,
		Load: protocol.Load{Kind: protocol.Closed, Even: l.Even},
	}
	level := float64(l.Connections)
	if l.Rate > 0 {
		p.Load.Kind, level = protocol.Open, float64(l.Rate)
	}
	p.Load.Stages = []protocol.Stage{{Duration: protocol.Duration(time.Duration(l.Seconds) * time.Second), From: level, To: level}}
	if _, err := c.Prepare(ctx, p); err != nil {
		return report{}, err
	}
	if err := c.Start(time.Now().Add(ahead)); err != nil {
		return report{}, err
	}
	var r report
	latency, lag := signals.NewHistogram(), signals.NewHistogram()
	if _, err := c.Follow(ctx, func(f *signals.Frame) error {
		s := f.Client
		if s == nil {
			return fmt.Errorf("frame %d is not of an agent", f.Seq)
		}
		r.Good += s.Good
		r.Bad += s.Timeouts + s.Refused + s.Cut + s.Malformed + s.Failed
		for code, n := range s.Status {
			if code[0] != '2' {
				r.Bad += n
			}
		}
		r.Dropped += s.Dropped
		if f.Phase == signals.Drain {
			r.Drained += s.Good
		}
		latency.Merge(s.Latency)
		lag.Merge(s.SendLag)
		return nil
	}); err != nil {
		return report{}, err
	}
	r.P50, r.P95, r.P99 = latency.Quantile(0.5), latency.Quantile(0.95), latency.Quantile(0.99)
	r.LagP50, r.Lag = lag.Quantile(0.5), lag.Quantile(0.99)
	return r, nil
}
