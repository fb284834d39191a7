package capacity

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/test/testkit/fixture"
)

// shown is a window of 900 light requests and 100 slow ones, of which some are late.
type shown struct {
	stage       search.Stage
	load        float64
	light, slow int
}

// kindsIn is an interval with such requests: a late one takes 150 ms.
func kindsIn(seq int, w shown) *signals.Frame {
	f := fixture.Client(seq, signals.Measure, 0, 0)
	add := func(name string, all, late int, takes time.Duration) {
		k := f.Client.KindOf(name)
		for range late {
			k.Latency.Record(150 * time.Millisecond)
		}
		for range all - late {
			k.Latency.Record(takes)
		}
		k.Ended, k.Good = int64(all), int64(all)
		f.Client.Good += k.Good
		f.Client.Latency.Merge(k.Latency)
	}
	add("light", 900, w.light, time.Millisecond)
	add("slow", 100, w.slow, 57*time.Millisecond)
	f.Client.Intended, f.Client.Sent = f.Client.Good, f.Client.Good
	return f
}

// Of records whose true answer is known, the late requests near the breaking point show which kind
// breaks first, whatever an overload or its backlog delays.
func TestTheKindThatARecordShowsToBreakFirst(t *testing.T) {
	missed := search.Result{Ended: search.Lowest, Why: finding.Finding{Kind: finding.MissesInBursts, Load: 50, Share: 0.02, Allowed: 0.01}}
	for _, c := range []struct {
		name    string
		found   search.Result
		windows []shown
		want    string
		share   float64
	}{
		{"slow alone: it needs 57 of 100 ms, and the queue is short", brokeAt(300, 290, 310),
			[]shown{{search.Bracket, 150, 0, 0}, {search.Bracket, 600, 800, 100}, {search.Test, 290, 0, 8}, {search.Sustain, 285, 0, 9}, {search.Overload, 440, 0, 60}, {search.Descend, 250, 700, 90}}, "slow", 1},
		{"slow alone, as its dependency is slow at every load", missed,
			[]shown{{search.Bracket, 50, 0, 100}, {search.Bracket, 25, 0, 100}}, "slow", 1},
		{"a pause of the whole service", brokeAt(300, 290, 310),
			[]shown{{search.Bracket, 150, 0, 0}, {search.Test, 290, 9, 1}, {search.Test, 310, 27, 3}, {search.Overload, 440, 90, 10}}, "", 0},
		{"a pause of the whole service, at every load", missed,
			[]shown{{search.Bracket, 50, 18, 2}, {search.Bracket, 25, 0, 0}, {search.Test, 38, 17, 3}}, "", 0},
		{"a queue in which both kinds wait", brokeAt(300, 290, 310),
			[]shown{{search.Bracket, 150, 0, 0}, {search.Test, 290, 0, 0}, {search.Bracket, 320, 400, 60}}, "", 0},
		{"late far below the answer, as it warms up", brokeAt(300, 290, 310),
			[]shown{{search.Bracket, 50, 0, 40}, {search.Test, 290, 0, 0}}, "", 0},
		{"the backlog of an overload", brokeAt(300, 290, 310),
			[]shown{{search.Test, 290, 0, 0}, {search.Descend, 250, 0, 100}}, "", 0},
		{"a lower bound", heldAt(300, false), []shown{{search.Test, 300, 0, 9}}, "", 0},
	} {
		e := fixture.Search()
		var steps []signals.SearchStep
		for i, w := range c.windows {
			steps = append(steps, signals.SearchStep{Step: i, Stage: string(w.stage), Load: w.load, First: i + 1, Last: i + 1})
		}
		s := Replay(e, &e.Cells[0], steps)
		s.found, s.ended = c.found, true
		for i, w := range c.windows {
			s.Add(kindsIn(i+1, w))
			s.steps[i].used = !w.stage.After()
		}
		b := (&Searches{Goal: objective.Of(e, &e.Cells[0]), All: []*Replayed{s}}).BreakingPoint()
		if b.FirstKind != c.want || b.FirstKindShare != c.share {
			t.Errorf("%s: %q with %v, want %q with %v", c.name, b.FirstKind, b.FirstKindShare, c.want, c.share)
		}
	}
}
