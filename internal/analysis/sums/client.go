package sums

import (
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/signals"
)

// Client sums the client frames. Seconds and rates count in measured intervals only.
// Requests and latencies count in the drain, too: those requests were intended during
// the measurement, and without them the tail would be cut.
type Client struct {
	Good    int64
	Errors  summary.ErrorCounts
	Latency *signals.Histogram // done − intended
	Service *signals.Histogram // done − sent
	// FirstByte is as in signals.Client.
	FirstByte *signals.Histogram
	Streams   *signals.Streams // nil: no stream had a message
	Dials     *signals.Dials   // nil: no connection was made
	Kinds     map[string]*signals.Kind
	Sessions  *signals.Sessions
	Resent    int64 // requests that were sent a second time
	Stray     int64 // connections that were replaced because of stray bytes
	NoPorts   int64 // connections that could not be made for lack of a local port
	// OtherSources is as in signals.Client, of the agent with most.
	OtherSources int64
	Stuck        int64 // requests of the warm-up that the measurement did not see end

	AckDelayed, Apart int64 // as in signals.Client

	agents   map[int]float64 // measured seconds of each agent in this trial
	earlier  float64         // seconds of trials that were merged in
	due      int64           // within the measured intervals
	sent     int64           // likewise
	held     int64           // due and not sent in intervals at whose end every connection had a request in flight
	answers  float64         // good answers within the measured intervals, including carried ones
	unjudged int64           // carried answers of intervals in which no other request ended
	cpu      float64
	open     map[int]int64 // open connections of all agents, by interval of this trial
	mostOpen int64         // highest of any interval of any trial; 0: not measured
}

func newClient() Client {
	return Client{Errors: summary.ErrorCounts{Status: map[string]int64{}}, Latency: signals.NewHistogram(), Service: signals.NewHistogram(),
		agents: map[int]float64{}, open: map[int]int64{}}
}

// allBusy is the share of the open connections with a request in flight from which a
// request that waits for a connection waits for the service.
const allBusy = 0.95

// Add takes a client frame of any phase.
func (c *Client) Add(f *signals.Frame) {
	k := f.Client
	if f.Phase == signals.Measure {
		if f.Agent != nil {
			c.agents[*f.Agent] += f.Seconds()
		}
		c.cpu += k.CPU
		c.due += k.Intended
		c.sent += k.Sent
		if k.Waiting > 0 && k.OpenConnections > 0 && float64(k.InFlight) >= allBusy*float64(k.OpenConnections) {
			c.held += max(0, k.Intended-k.Sent)
		}
		// It is unknown whether a carried answer was good. The same share of them is
		// assumed to be good as of the interval's own answers, or, if it has none, as of
		// all those of the trial.
		c.answers += float64(k.Good)
		if ended := k.Ended(); ended > 0 {
			c.answers += float64(k.Good) / float64(ended) * float64(k.Carried)
		} else {
			c.unjudged += k.Carried
		}
	}
	if f.Phase == signals.Drain {
		c.Stuck += k.Carried
	}
	c.Good += k.Good
	addErrors(&c.Errors, k)
	c.Resent += k.Resent
	c.Stray += k.Stray
	c.NoPorts += k.NoPorts
	c.OtherSources = max(c.OtherSources, k.OtherSources)
	c.AckDelayed += k.AckDelayed
	c.Apart += k.Apart
	c.open[f.Seq] += k.OpenConnections
	c.mostOpen = max(c.mostOpen, c.open[f.Seq])
	c.FirstByte = signals.PlusFirst(c.FirstByte, c.Latency, k)
	c.Latency.Merge(k.Latency)
	c.Service.Merge(k.Service)
	c.Streams = c.Streams.Plus(k.Streams)
	c.Dials = c.Dials.Plus(k.Dials)
	c.Kinds = signals.PlusKinds(c.Kinds, k.Kinds)
	c.Sessions = signals.PlusSessions(c.Sessions, k.Sessions)
}

func (c *Client) merge(o *Client) {
	c.earlier += o.Seconds()
	c.answers += o.Answers()
	c.due += o.due
	c.sent += o.sent
	c.held += o.held
	c.Good += o.Good
	c.Errors.Add(&o.Errors)
	c.Resent += o.Resent
	c.Stray += o.Stray
	c.NoPorts += o.NoPorts
	c.OtherSources = max(c.OtherSources, o.OtherSources)
	c.Stuck += o.Stuck
	c.AckDelayed += o.AckDelayed
	c.Apart += o.Apart
	c.cpu += o.cpu
	c.mostOpen = max(c.mostOpen, o.mostOpen)
	c.FirstByte = signals.PlusFirst(c.FirstByte, c.Latency, &signals.Client{FirstByte: o.FirstByte, Latency: o.Latency})
	c.Latency.Merge(o.Latency)
	c.Service.Merge(o.Service)
	c.Streams = c.Streams.Plus(o.Streams)
	c.Dials = c.Dials.Plus(o.Dials)
	c.Kinds = signals.PlusKinds(c.Kinds, o.Kinds)
	c.Sessions = signals.PlusSessions(c.Sessions, o.Sessions)
}

// Requests counts the requests that were due: ended, good or not, or never sent.
func (c *Client) Requests() int64 { return c.Good + c.Errors.Sum() }

// Bad counts the requests that were due and got no good answer.
func (c *Client) Bad() int64 { return c.Errors.Sum() }

// Failed counts the requests that got a bad answer or none, as opposed to a late one: a
// timeout is a slow answer.
func (c *Client) Failed() int64 { return c.Errors.Sum() - c.Errors.Timeouts - c.Errors.Dropped }

// Seconds returns the measured time. Agents start together, but with a fixed number of
// requests each ends by itself, so a trial lasts as long as its last agent.
func (c *Client) Seconds() float64 {
	longest := 0.0
	for _, s := range c.agents {
		longest = max(longest, s)
	}
	return c.earlier + longest
}

// Answers counts the good answers that ended in the measured intervals.
func (c *Client) Answers() float64 {
	share := 1.0
	if ended := c.Requests() - c.Errors.Dropped; ended > 0 {
		share = float64(c.Good) / float64(ended)
	}
	return c.answers + share*float64(c.unjudged)
}

// Rate is good answers per second, over all agents.
func (c *Client) Rate() *float64 { return Over(new(c.Answers()), new(c.Seconds())) }

// Due is the requests per second that were due, and Sent those that were sent.
func (c *Client) Due() *float64  { return Over(new(float64(c.due)), new(c.Seconds())) }
func (c *Client) Sent() *float64 { return Over(new(float64(c.sent)), new(c.Seconds())) }

// Held is the requests per second that were due and not sent because the service had
// not answered those before them on any connection.
func (c *Client) Held() *float64 { return Over(new(float64(c.held)), new(c.Seconds())) }

// Availability is a percentage of the intended requests.
func (c *Client) Availability() *float64 {
	n := c.Requests()
	if n == 0 {
		return nil
	}
	return new(100 * float64(c.Good) / float64(n))
}

// Cores is the CPU of the agents; nil if it was measured for too short a time.
func (c *Client) Cores() *float64 {
	if c.Seconds() < signals.Measurable.Seconds() {
		return nil
	}
	return Over(&c.cpu, new(c.Seconds()))
}

// OpenConnections is the highest number of connections open at one time; nil: not
// measured.
func (c *Client) OpenConnections() *int64 {
	if c.mostOpen == 0 {
		return nil
	}
	return new(c.mostOpen)
}
