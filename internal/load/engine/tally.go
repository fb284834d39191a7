package engine

import (
	"net/netip"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/slow"
	"github.com/millicore/millicore/internal/load/wire"
)

// tally are the counts of one loop over one interval. A loop fills one while the
// collector empties another.
type tally struct {
	signals.Client
	status [1000]int64
	wanted [1000]int64 // of those, the codes outside of 200 to 299 that a check wants
	slow   *slow.Sample

	first *signals.Histogram // as Client.FirstByte
	parts bool               // an answer came in parts
}

func newTally() *tally {
	return &tally{
		Client: signals.Client{
			Latency: signals.NewHistogram(),
			Service: signals.NewHistogram(),
			SendLag: signals.NewHistogram(),
		},
		slow:  &slow.Sample{},
		first: signals.NewHistogram(),
	}
}

// streams are the times of messages, which most loads have none of.
func (t *tally) streams() *signals.Streams {
	if t.Streams == nil {
		t.Streams = &signals.Streams{First: signals.NewHistogram(), Between: signals.NewHistogram()}
	}
	return t.Streams
}

// dials are the times of new connections, which most intervals have none of.
func (t *tally) dials(secure bool) *signals.Dials {
	if t.Dials == nil {
		t.Dials = &signals.Dials{Connect: signals.NewHistogram()}
		if secure {
			t.Dials.Handshake = signals.NewHistogram()
		}
	}
	return t.Dials
}

// reset empties the tally and keeps its memory.
func (t *tally) reset() {
	latency, service, lag, sample, first := t.Latency, t.Service, t.SendLag, t.slow, t.first
	first.Reset()
	latency.Reset()
	service.Reset()
	lag.Reset()
	sample.Reset()
	*t = tally{Client: signals.Client{Latency: latency, Service: service, SendLag: lag}, slow: sample, first: first}
}

// add adds another loop's counts over the same interval, except the slow requests,
// whose weights are per loop.
func (t *tally) add(o *tally) {
	t.Client.Add(&o.Client)
	t.first.Merge(o.first)
	t.parts = t.parts || o.parts
	t.InFlight += o.InFlight
	t.Waiting += o.Waiting
	t.OpenConnections += o.OpenConnections
	t.OtherSources += o.OtherSources
	t.SlowSeen += o.SlowSeen
	t.Users += o.Users
	t.Rate += o.Rate
	for i, n := range o.status {
		t.status[i] += n
		t.wanted[i] += o.wanted[i]
	}
}

// begin records when the answer of a request began that ended at done, or has no answer.
func (t *tally) begin(s *slot, done time.Duration) {
	if s.first > s.sent && s.first < done {
		done, t.parts = s.first, true
	}
	t.first.Record(done - s.intended)
}

// apart counts an answer by how long its last part came after the part before.
func (t *tally) apart(gap time.Duration) {
	switch {
	case gap >= signals.AckDelayed && gap < signals.AckDelayedMost:
		t.AckDelayed++
	case gap >= signals.AckDelayed/2:
		t.Apart++
	}
}

// apartBy counts a request that ended by the name of its kind.
func (t *tally) apartBy(name string, good, timed bool, latency time.Duration) {
	k := t.KindOf(name)
	if k.Ended++; good {
		k.Good++
	}
	if timed {
		k.Latency.Record(latency)
	}
}

// take counts a complete answer and reports whether it is good. captured is false if it lacks
// what its session needs.
func (t *tally) take(a *wire.Answer, check *wire.Checked, captured bool, hide func(string) string) (good bool) {
	status := a.Status()
	t.status[status]++
	usual, wanted := status >= 200 && status < 300, check.Wants(status)
	if wanted && !usual {
		t.wanted[status]++
	}
	switch {
	case wanted && a.Found() && captured:
		t.Good++
		return true
	case wanted || usual:
		t.Failed++
	default:
		t.hear(signals.StatusName(status), a, hide)
		if a.Pushback() {
			t.Pushbacks++
		}
	}
	return false
}

// longestText is how much of what a service says of a call is kept, in bytes.
const longestText = 200

// hear keeps what a service says of the first call that ended like this, without secrets.
func (t *tally) hear(name string, a *wire.Answer, hide func(string) string) {
	if t.Said[name] != "" {
		return
	}
	text := a.Text()
	if hide != nil {
		text = hide(text)
	}
	t.Hear(name, strings.ToValidUTF8(text[:min(len(text), longestText)], ""))
}

// refuse counts a request for which no connection could be opened, by its address if there are
// several.
func (t *tally) refuse(addr netip.AddrPort, several bool) {
	if t.Refused++; !several {
		return
	}
	if t.RefusedBy == nil {
		t.RefusedBy = map[string]int64{}
	}
	t.RefusedBy[addr.String()]++
}

// client returns the tally in the form of a frame. It shares the histograms.
func (t *tally) client() *signals.Client {
	if t.parts {
		t.FirstByte = t.first
	}
	t.Status, t.Wanted = byCode(&t.status), byCode(&t.wanted)
	return &t.Client
}

// byCode returns the nonzero counts by code.
func byCode(counts *[1000]int64) map[string]int64 {
	all := map[string]int64{}
	for code, n := range counts {
		if n > 0 {
			all[signals.StatusName(code)] = n
		}
	}
	return all
}

// handover is a tally on its way from a loop to the collector.
type handover struct {
	seq        int
	start, end time.Duration // since the start of the trial
	phase      signals.Phase
	tally      *tally
	err        error // a request could not be made, and the loop has ended; no other field is set
	last       bool  // the loop has ended
}
