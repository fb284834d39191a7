package analysis

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/lab/wording"
	"github.com/millicore/millicore/test/testkit/fixture"
)

func TestAnObjectiveIsWrittenDownInFigures(t *testing.T) {
	for _, c := range []struct {
		name  string
		asked experiment.Objective
		want  summary.Objective
	}{
		{"both", experiment.Objective{Quantile: "p99", Latency: 250 * time.Millisecond, Availability: 99.9},
			summary.Objective{Text: "p99 <= 250ms, availability >= 99.9%", Quantile: "p99", LatencyMS: new(250.0), Availability: new(99.9)}},
		{"latency", experiment.Objective{Quantile: "p999", Latency: 1500 * time.Microsecond},
			summary.Objective{Text: "p999 <= 1.5ms", Quantile: "p999", LatencyMS: new(1.5)}},
		{"availability", experiment.Objective{Availability: 95}, summary.Objective{Text: "availability >= 95%", Availability: new(95.0)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(&c.want, objectiveOf(&c.asked)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestASearchedCellSaysUpToWhichLoad guards against figures of another load next to
// "meets" or "misses".
func TestASearchedCellSaysUpToWhichLoad(t *testing.T) {
	e := fixture.Experiment(experiment.Load{Rate: &experiment.Target{Value: 50}, Find: true})
	e.Objective = &experiment.Objective{Quantile: "p99", Latency: 100 * time.Millisecond, Availability: 99.9}
	b := New(e, nil)
	tested := &summary.Quantiles{P99: 56.06}
	for _, c := range []struct {
		name string
		cell summary.Cell
		want summary.Finding
	}{
		{"a breaking point, with what was tested", summary.Cell{Trials: 1, Load: summary.Load{Find: true}, LatencyMS: tested, Availability: new(100.0),
			Breaking: &summary.BreakingPoint{RateRPS: new(352.4), Held: &summary.Step{Target: 347, LatencyMS: tested, Availability: new(100.0)}, Missed: &summary.Step{Target: 360}}},
			summary.Finding{Title: "meets the objective up to 352 requests/s",
				Text: "objective: p99 <= 100ms, availability >= 99.9%; measured at 347: p99 56.06 ms, availability 100%; missed at 360"}},
		{"an untested one", summary.Cell{Trials: 1, Load: summary.Load{Find: true}, Breaking: &summary.BreakingPoint{RateRPS: new(352.4), Untested: true, Missed: &summary.Step{Target: 360}}},
			summary.Finding{Title: "untested: estimated to meet the objective up to 352 requests/s",
				Text: "objective: p99 <= 100ms, availability >= 99.9%; missed at 360"}},
		{"of users", summary.Cell{Trials: 1, Load: summary.Load{Find: true}, Breaking: &summary.BreakingPoint{Users: new(12.0)}},
			summary.Finding{Title: "meets the objective up to 12 users", Text: "objective: p99 <= 100ms, availability >= 99.9%"}},
		{"a lower bound", summary.Cell{Trials: 1, Load: summary.Load{Find: true}, Breaking: &summary.BreakingPoint{RateRPS: new(40000.0), AtLeast: true}},
			summary.Finding{Title: "meets the objective up to at least 40,000 requests/s", Text: "objective: p99 <= 100ms, availability >= 99.9%"}},
		{"none found", summary.Cell{Trials: 1, Load: summary.Load{Find: true}, LatencyMS: tested, Breaking: &summary.BreakingPoint{Why: []finding.Finding{{Kind: finding.Recorded, Text: "the service died 3 times in a row"}}}},
			summary.Finding{Title: "no load was seen to meet the objective", Text: "objective: p99 <= 100ms, availability >= 99.9%; the service died 3 times in a row"}},
		{"none found, though a load met it", summary.Cell{Trials: 1, Load: summary.Load{Find: true}, Breaking: &summary.BreakingPoint{Why: []finding.Finding{{Kind: finding.Recorded, Text: "other processes took CPU"}}},
			Steps: []summary.Step{{Target: 100, LatencyMS: tested, Availability: new(100.0), Met: new(true)}, {Target: 400, LatencyMS: &summary.Quantiles{P99: 632}, Availability: new(100.0), Met: new(false)}}},
			summary.Finding{Title: "unknown up to which load it meets the objective", Text: "objective: p99 <= 100ms, availability >= 99.9%; other processes took CPU"}},
		{"no search was made", summary.Cell{Load: summary.Load{Find: true}, Breaking: &summary.BreakingPoint{Why: []finding.Finding{{Kind: finding.Recorded, Text: "no search was possible"}}}},
			summary.Finding{Title: "unknown whether the objective was met",
				Text: "objective: p99 <= 100ms, availability >= 99.9%; measured: no p99 of a single load level, no request ended"}},
		{"a ramp: the figures of its level", summary.Cell{Trials: 1, Load: summary.Load{Stages: true}, Availability: new(50.0), Breaking: &summary.BreakingPoint{RateRPS: new(100.0)},
			Steps: []summary.Step{{Target: 100, LatencyMS: &summary.Quantiles{P99: 20}, Availability: new(99.95), Met: new(true)}, {Target: 200, LatencyMS: &summary.Quantiles{P99: 900}, Availability: new(1.0), Met: new(false)}}},
			summary.Finding{Title: "meets the objective up to 100 requests/s",
				Text: "objective: p99 <= 100ms, availability >= 99.9%; measured at 100: p99 20 ms, availability 99.95%"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cell.Objective = b.cell(0).objective(&c.cell, sums.New(), true)
			if got := c.cell.Objective.Met; (got == nil) != strings.Contains(c.want.Title, "unknown") {
				t.Errorf("the objective counts as met: %v", got)
			}
			got, ok := b.objectiveFinding(&c.cell)
			if !ok {
				t.Fatal("nothing is found")
			}
			c.want.Level, c.want.Cell, c.want.Searched = "result", &c.cell.Cell, c.cell.Load.Find
			if d := cmp.Diff(c.want, worded(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

// worded is a finding with its texts instead of what they are made of.
func worded(f summary.Finding) summary.Finding {
	s := &summary.Summary{Findings: []summary.Finding{f}}
	wording.Fill(s)
	f = s.Findings[0]
	f.What, f.Why = finding.Finding{}, nil
	return f
}
