package engine

import (
	"strconv"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/wire"
)

// tally are the counts of one loop over one interval. A loop fills one while the
// collector empties another.
type tally struct {
	signals.Client
	status [1000]int64
	wanted [1000]int64 // of those, the codes outside of 200 to 299 that a check wants
	slow   *sample
}

func newTally() *tally {
	return &tally{
		Client: signals.Client{
			Latency: signals.NewHistogram(),
			Service: signals.NewHistogram(),
			SendLag: signals.NewHistogram(),
		},
		slow: &sample{},
	}
}

// reset empties the tally and keeps its memory.
func (t *tally) reset() {
	latency, service, lag, slow := t.Latency, t.Service, t.SendLag, t.slow
	latency.Reset()
	service.Reset()
	lag.Reset()
	slow.seen = 0
	*t = tally{Client: signals.Client{Latency: latency, Service: service, SendLag: lag}, slow: slow}
}

// add adds another loop's counts over the same interval, except the slow requests,
// whose weights are per loop.
func (t *tally) add(o *tally) {
	t.Intended += o.Intended
	t.Sent += o.Sent
	t.Good += o.Good
	t.Timeouts += o.Timeouts
	t.Unaccepted += o.Unaccepted
	t.Refused += o.Refused
	t.Cut += o.Cut
	t.Malformed += o.Malformed
	t.Failed += o.Failed
	t.Resent += o.Resent
	t.Stray += o.Stray
	t.NoPorts += o.NoPorts
	t.Carried += o.Carried
	t.Dropped += o.Dropped
	t.InFlight += o.InFlight
	t.Waiting += o.Waiting
	t.Bytes += o.Bytes
	t.Connects += o.Connects
	t.OpenConnections += o.OpenConnections
	t.SlowSeen += o.SlowSeen
	t.Users += o.Users
	t.Rate += o.Rate
	for i, n := range o.status {
		t.status[i] += n
		t.wanted[i] += o.wanted[i]
	}
	t.Latency.Merge(o.Latency)
	t.Service.Merge(o.Service)
	t.SendLag.Merge(o.SendLag)
}

// take counts a complete answer and reports whether it is good.
func (t *tally) take(status int, check *wire.Checked, found bool) (good bool) {
	t.status[status]++
	usual, wanted := status >= 200 && status < 300, check.Wants(status)
	if wanted && !usual {
		t.wanted[status]++
	}
	switch {
	case wanted && found:
		t.Good++
		return true
	case wanted || usual:
		t.Failed++
	}
	return false
}

// client returns the tally in the form of a frame. It shares the histograms.
func (t *tally) client() *signals.Client {
	t.Status, t.Wanted = byCode(&t.status), byCode(&t.wanted)
	return &t.Client
}

// byCode returns the nonzero counts by code; nil if there are none.
func byCode(counts *[1000]int64) map[string]int64 {
	var all map[string]int64
	for code, n := range counts {
		if n == 0 {
			continue
		}
		if all == nil {
			all = map[string]int64{}
		}
		all[strconv.Itoa(code)] = n
	}
	return all
}

// handover is a tally on its way from a loop to the collector.
type handover struct {
	seq        int
	start, end time.Duration // since the start of the trial
	phase      signals.Phase
	tally      *tally
	last       bool // the loop has ended
}
