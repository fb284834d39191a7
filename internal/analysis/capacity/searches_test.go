package capacity

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/lab/wording"
	"github.com/millicore/millicore/test/testkit/fixture"
)

func brokeAt(load, low, high float64) search.Result {
	return search.Result{Load: load, Low: low, High: high}
}

func heldAt(load float64, limited bool) search.Result {
	ended, reason := search.Time, "the time was spent"
	if limited {
		ended, reason = search.Limited, "the generator was the limit"
	}
	return search.Result{Load: load, Low: load, High: math.Inf(1), AtLeast: true, Ended: ended, Why: recorded(reason)}
}

func noneFor(why string) search.Result { return search.Result{Why: recorded(why)} }

// recorded is a reason that a record has in words.
func recorded(why string) finding.Finding { return finding.Finding{Kind: finding.Recorded, Text: why} }

// ended is a search with a result and two windows: one at 310 that missed with the
// service at its limit, and one at 520 that was left out because the agent lagged.
func ended(r search.Result) *Replayed {
	e := fixture.Search()
	s := Replay(e, &e.Cells[0], []signals.SearchStep{{Step: 0, Load: 310, First: 1, Last: 1}, {Step: 1, Load: 520, First: 2, Last: 2}})
	s.found, s.ended = r, true
	s.Add(fixture.Client(1, signals.Measure, 100, 200*time.Millisecond))
	s.Add(fixture.Server(1, signals.Measure, 0.97, 10, 9))
	lagging := fixture.Client(2, signals.Measure, 100, 150*time.Millisecond)
	for range 10 {
		lagging.Client.SendLag.Record(30 * time.Millisecond)
	}
	s.Add(lagging)
	s.steps[0].used = true
	return s
}

// The combined answer of one cell's searches: if any saw the service break, that is
// the answer; it is a bound only if all are.
func TestSearchesArePutTogether(t *testing.T) {
	for _, c := range []struct {
		name    string
		in      []search.Result
		load    float64 // 0: none
		low     float64
		high    float64 // 0: none
		atLeast bool
		by      string
		reason  []string
	}{
		{"one that broke", []search.Result{brokeAt(300, 290, 310)}, 300, 290, 310, false, summary.ByCPULimit, nil},
		{"three that broke: the middle, and from the lowest end to the highest",
			[]search.Result{brokeAt(300, 290, 310), brokeAt(280, 270, 295), brokeAt(320, 305, 330)}, 300, 270, 330, false, summary.ByCPULimit, nil},
		{"six that broke: the interval of their median",
			[]search.Result{brokeAt(300, 1, 999), brokeAt(301, 1, 999), brokeAt(302, 1, 999), brokeAt(303, 1, 999), brokeAt(304, 1, 999), brokeAt(305, 1, 999)}, 302.5, 300, 305, false, summary.ByCPULimit, nil},
		{"a bound above moves no answer, but leaves the interval open",
			[]search.Result{brokeAt(300, 290, 310), heldAt(500, true)}, 300, 290, 0, false, summary.ByCPULimit, []string{"1 of 2 searches gave only a lower bound, at least 500", "the generator was the limit"}},
		{"a bound below extends the interval, and leaves it open",
			[]search.Result{heldAt(200, false), brokeAt(300, 290, 310)}, 300, 200, 0, false, summary.ByCPULimit, []string{"1 of 2 searches gave only a lower bound, at least 200", "the time was spent"}},
		{"one by the generator, and two of three are bounds", []search.Result{brokeAt(300, 290, 310), heldAt(500, true), heldAt(510, true)}, 500, 290, 0, true, summary.ByGenerator,
			[]string{"the generator was the limit; 2 of 3 searches gave only a lower bound, at least 510"}},
		{"half of the starts break below every load", []search.Result{noneFor("it misses"), brokeAt(300, 290, 310)}, 0, 0, 0, false, summary.ByCPULimit,
			[]string{"1 of 2 searches found no load that meets the objective: it misses; 1 of 2 searches did: up to 300"}},
		{"a third of them: the median of all", []search.Result{noneFor("it misses"), brokeAt(300, 290, 310), brokeAt(304, 300, 308)}, 300, 0, 310, false, summary.ByCPULimit,
			[]string{"1 of 3 searches found no load that meets the objective: it misses"}},
		{"four at 400 and two that died", []search.Result{noneFor("it died"), noneFor("it died"), brokeAt(400, 390, 410), brokeAt(400, 390, 410), brokeAt(400, 390, 410), brokeAt(400, 390, 410)},
			400, 0, 400, false, "", []string{"2 of 6 searches found no load that meets the objective: it died"}},
		{"one that could not be determined is left out",
			[]search.Result{{Ended: search.Limited, Why: recorded("too weak")}, brokeAt(300, 290, 310)}, 300, 290, 310, false, summary.ByCPULimit, []string{"1 of 2 searches found no breaking point and is left out: too weak"}},
		{"one bound, by the generator", []search.Result{heldAt(500, true)}, 500, 500, 0, true, summary.ByGenerator, []string{"the generator was the limit"}},
		{"bounds only: the lowest, and what made it one",
			[]search.Result{heldAt(500, true), heldAt(400, false)}, 400, 400, 0, true, "", []string{"the time was spent; each of the 2 searches gave only a lower bound, the highest at least 500"}},
		{"bounds only, the lowest by the generator",
			[]search.Result{heldAt(500, false), heldAt(400, true)}, 400, 400, 0, true, summary.ByGenerator, []string{"the generator was the limit; each of the 2"}},
		{"none", []search.Result{noneFor("it misses the objective even at the lowest load")}, 0, 0, 0, false, summary.ByCPULimit, []string{"it misses"}},
		{"none, and the generator was too weak for one of them",
			[]search.Result{{Ended: search.Limited, Why: recorded("too weak")}, noneFor("it misses")}, 0, 0, 0, false, summary.ByCPULimit, []string{"it misses"}},
		{"none, as the generator was too weak", []search.Result{{Ended: search.Limited, Why: recorded("too weak")}}, 0, 0, 0, false, summary.ByGenerator, []string{"too weak"}},
		{"no trial", nil, 0, 0, 0, false, "", []string{"no search was possible"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all Searches
			for _, r := range c.in {
				all.All = append(all.All, ended(r))
			}
			b := worded(all.BreakingPoint())
			got := [3]float64{sums.Value(b.RateRPS), sums.Value(b.Low), sums.Value(b.High)}
			if want := [3]float64{c.load, c.low, c.high}; got != want || b.AtLeast != c.atLeast || b.Users != nil {
				t.Errorf("%v at least %v, want %v at least %v", got, b.AtLeast, want, c.atLeast)
			}
			if b.LimitedBy != c.by || (b.Evidence == "") != (c.by == "") {
				t.Errorf("limited by %q (%s), want %q", b.LimitedBy, b.Evidence, c.by)
			}
			for _, want := range c.reason {
				if !strings.Contains(b.Reason, want) {
					t.Errorf("reason %q, want %q in it", b.Reason, want)
				}
			}
			if c.reason == nil && b.Reason != "" {
				t.Errorf("reason %q, want none", b.Reason)
			}
		})
	}
}

// A window that the search left out because the generator was the limit does not show
// why the service breaks.
func TestWindowsThatAreLeftOutGiveNoCause(t *testing.T) {
	s := ended(brokeAt(450, 440, 460)) // the nearest window above is that of the lagging agent
	if all, _ := s.missed(); all != nil {
		t.Errorf("%d requests of a window that was left out", all.Client.Requests())
	}
	if by, evidence := s.bounded(); by != summary.ByGenerator || !strings.Contains(wording.Joined(evidence), "sent more than") {
		t.Errorf("limited by %q (%s), want the generator's lag", by, wording.Joined(evidence))
	}
}

// If a search found nothing next to a neighbour, the neighbour may be the reason, of errors
// too. That nothing is answered is the service's own.
func TestWhatBreaksAServiceBesideANeighbour(t *testing.T) {
	e := fixture.Search()
	for _, c := range []struct {
		name         string
		good, errors int64
		want         string
	}{{"it is slow", 100, 0, ""}, {"it answers half with errors", 100, 100, ""}, {"it answers with errors only", 0, 100, summary.ByErrors}} {
		t.Run(c.name, func(t *testing.T) {
			s := Replay(e, &e.Cells[0], []signals.SearchStep{{Step: 0, Load: 310, First: 1, Last: 1}})
			s.found, s.ended = noneFor("it misses"), true
			f := fixture.Client(1, signals.Measure, c.good, 200*time.Millisecond)
			if c.errors > 0 {
				f.Client.Status["500"] = c.errors
			}
			s.Add(f)
			s.Add(fixture.Server(1, signals.Measure, 0.97, 10, 9))
			s.Add(&signals.Frame{Trial: 1, Seq: 1, Phase: signals.Measure, Start: 1e9, End: 2e9, Host: &signals.Host{CPUs: 2, Foreign: 1}})
			s.steps[0].used = s.steps[0].window.Observation().Disturbed == 0
			if b := worded((&Searches{All: []*Replayed{s}}).BreakingPoint()); b.LimitedBy != c.want {
				t.Errorf("limited by %q (%s), want %q", b.LimitedBy, b.Evidence, c.want)
			}
		})
	}
}

// A search that is replayed from its record ends as it did live, here with a state
// machine that receives the same windows frame by frame.
func TestARecordedSearchEndsAsItDid(t *testing.T) {
	e := fixture.Search()
	machine := search.New(SearchConfig(e, &e.Cells[0], nil))
	var steps []signals.SearchStep
	var frames []*signals.Frame
	seq := 1
	for step, ok := machine.Next(); ok; step, ok = machine.Next() {
		line := signals.SearchStep{Trial: 1, Step: step.Number, Stage: string(step.Stage), Load: step.Load, First: seq + 1}
		window := Observe(e, &e.Cells[0], step.Load)
		for range step.Window / e.Measure.Interval {
			seq++
			latency := 10 * time.Millisecond
			if step.Load > 300 {
				latency = 200 * time.Millisecond
			}
			f := fixture.Client(seq, signals.Measure, int64(step.Load), latency)
			window.Add(f)
			frames = append(frames, f)
		}
		line.Last = seq
		seq++ // an interval between two windows, which belongs to neither
		frames = append(frames, fixture.Client(seq, signals.Measure, 1, 10*time.Second))
		steps = append(steps, line)
		machine.Saw(window.Observation())
	}
	again := Replay(e, &e.Cells[0], steps)
	for _, f := range frames {
		again.Add(f)
	}
	if d := cmp.Diff(machine.Result(), again.Result()); d != "" || machine.Result().Load == 0 {
		t.Errorf("%+v: %s", machine.Result(), d)
	}
}

// Of a load that was held twice, one window met the objective, and in the other no request
// ended: what the two show together is not decided.
func TestALoadOfWhichAWindowHadNoAnswerIsNotDecided(t *testing.T) {
	for name, answers := range map[string]int64{"answered": 100, "unanswered": 0} {
		t.Run(name, func(t *testing.T) {
			e := fixture.Search()
			s := Replay(e, &e.Cells[0], []signals.SearchStep{{Step: 0, Load: 310, First: 1, Last: 1}, {Step: 1, Load: 310, First: 2, Last: 2}})
			s.found, s.ended = noneFor("the time was spent"), true
			s.Add(fixture.Client(1, signals.Measure, 100, 20*time.Millisecond))
			s.Add(fixture.Client(2, signals.Measure, answers, 20*time.Millisecond))
			s.steps[0].used, s.steps[1].used = true, true
			steps := (&Searches{Goal: objective.Of(e, &e.Cells[0]), All: []*Replayed{s}}).Steps()
			if len(steps) != 1 || (steps[0].Met != nil) != (answers > 0) {
				t.Errorf("%+v", steps)
			}
		})
	}
}

// A queue that grows above the breaking point may end with an OOM kill. Where requests were
// late at a lower load, without a failure, that is not why the service breaks.
func TestAKillAboveTheBreakingPoint(t *testing.T) {
	for _, c := range []struct {
		name          string
		below, killed float64 // loads that missed, by late requests and with a kill
		want          string
	}{
		{"late below", 310, 340, summary.ByCPULimit},
		{"nothing below", 360, 340, summary.ByMemory},
		{"at the same load", 340, 340, summary.ByMemory},
	} {
		e := fixture.Search()
		s := Replay(e, &e.Cells[0], []signals.SearchStep{{Step: 0, Load: c.below, First: 1, Last: 1}, {Step: 1, Load: c.killed, First: 2, Last: 2}})
		s.found, s.ended = brokeAt(300, 290, 310), true
		for seq := 1; seq <= 2; seq++ {
			s.Add(fixture.Client(seq, signals.Measure, 100, 200*time.Millisecond))
			server := fixture.Server(seq, signals.Measure, 0.97, 10, 9)
			if seq == 2 {
				server.Server.OOMKills = new(int64(1))
			}
			s.Add(server)
			s.steps[seq-1].used = true
		}
		all := &Searches{Goal: objective.Of(e, &e.Cells[0]), All: []*Replayed{s}}
		if b := all.BreakingPoint(); b.LimitedBy != c.want {
			t.Errorf("%s: limited by %q (%v), want %q", c.name, b.LimitedBy, b.Shown, c.want)
		}
	}
}
