package traffic

import (
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/lab/results"
)

// Result is the result of a load, from its record.
type Result struct {
	All       results.Results // with Cell as the only one
	Cell      *summary.Cell
	Client    signals.Client // of all agents and measured frames together
	Length    time.Duration  // of the measured part
	Addresses []Address      // see Options
	Replay    *Replay        // see Options.Replayed
	Spoken    string         // the protocol; "": HTTP/1.1 without TLS
	Ended     time.Duration  // when the observed process ended, from the begin of the load; 0: it did not

	measured int64 // bytes received in the measured part
	after    int64 // good answers after it
	timeout  time.Duration
}

// Read reads the record of one trial, in one pass over its frames, which also
// derives its latency.hlog.
func Read(dir string) (*Result, error) {
	r := &Result{Client: signals.Client{
		Latency: signals.NewHistogram(), Service: signals.NewHistogram(), SendLag: signals.NewHistogram(),
	}}
	var first, last int64
	all, err := results.Derive(record.Own, dir, func(f *signals.Frame) {
		if f.Client == nil || f.Phase == signals.Warmup {
			return
		}
		r.Client.Add(f.Client)
		if f.Phase == signals.Measure {
			if first == 0 {
				first = f.Start
			}
			last = max(last, f.End)
			r.measured += f.Client.Bytes
		} else {
			r.after += f.Client.Good
		}
	})
	if err != nil {
		return nil, err
	}
	r.All, r.Cell, r.Length = all, &all.Summary.Cells[0], time.Duration(last-first)
	load := &all.Record.Run.Experiment.Cells[0].Load
	r.Spoken, r.timeout = spoken(load.Protocol, load.Insecure), load.Timeout
	return r, nil
}

// spoken describes a protocol of load.protocol; "" for plain HTTP/1.1.
func spoken(protocol string, insecure bool) string {
	text := map[string]string{"https": "HTTP/1.1 over TLS", "h2": "HTTP/2 over TLS", "h2c": "HTTP/2 without TLS"}[protocol]
	if text != "" && insecure {
		text += ", certificate NOT verified"
	}
	return text
}

// metric is the value of a threshold's metric; nil: not measured.
func (r *Result) metric(name string) *float64 {
	c := r.Cell
	switch name {
	case "rate":
		return c.RateRPS
	case "errors":
		if c.Availability == nil {
			return nil
		}
		errors := 100 - *c.Availability
		return &errors
	}
	if c.LatencyMS == nil {
		return nil
	}
	if name == "mean" {
		return &c.LatencyMS.Mean
	}
	for _, q := range c.LatencyMS.All() {
		if q.Name == name {
			return &q.Value
		}
	}
	return nil
}

// ofKind is the part of a result that the requests of one kind have. Those that were never sent have
// no kind.
func (r *Result) ofKind(name string) *Result {
	part := &Result{Cell: &summary.Cell{}, Client: signals.Client{Latency: signals.NewHistogram()}, Length: r.Length, timeout: r.timeout}
	k := r.Client.Kinds[name]
	if k == nil || k.Ended == 0 { // no such request ended
		return part
	}
	part.Client = signals.Client{Latency: k.Latency, Good: k.Good, Timeouts: k.Timeouts()}
	part.Cell.Requests, part.Cell.LatencyMS = k.Ended, summary.QuantilesOf(k.Latency)
	part.Cell.Availability = new(100 * float64(k.Good) / float64(k.Ended))
	if r.Cell.RateRPS != nil && r.Client.Good > 0 {
		part.Cell.RateRPS = new(*r.Cell.RateRPS * float64(k.Good) / float64(r.Client.Good))
	}
	return part
}
