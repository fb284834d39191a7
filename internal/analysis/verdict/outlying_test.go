package verdict

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/lab/wording"
)

// One trial of six decides the percentile of all requests together, and the objective.
func TestAnObjectiveThatOneTrialMissesIsExplained(t *testing.T) {
	limit := 100.0
	cell := func(together float64, p99 ...float64) *summary.Cell {
		c := p99s("x", p99...)
		c.LatencyMS = &summary.Quantiles{P99: together}
		c.Objective = &summary.Objective{Quantile: "p99", LatencyMS: &limit}
		return &c
	}
	refusing := cell(111.3, 12, 12, 12.5, 12.5, 13, 13)
	refusing.PerTrial[5] = unanswered
	for _, c := range []struct {
		name string
		cell *summary.Cell
		want string
	}{
		{"one of six", cell(111.3, 12, 12, 12.5, 12.5, 13, 350), "the median over 6 trials is 12.5 ms: 1 of them misses the objective, and their highest p99 is 350 ms"},
		{"two of six", cell(111.3, 12, 12, 12.5, 12.5, 130, 350), "the median over 6 trials is 12.5 ms: 2 of them miss the objective, and their highest p99 is 350 ms"},
		{"one that was not answered", refusing, "the median over 6 trials is 12.5 ms: 1 of them misses the objective, and their highest p99 is infinite, as too many requests failed"},
		{"both miss it", cell(350, 110, 120, 130), ""},
		{"both meet it", cell(90, 12, 12, 12.5, 350), ""},
		{"one trial", cell(111.3, 111.3), ""},
	} {
		if got := wording.Of(Outlying(c.cell)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if Together(cell(1, 1)) || !Together(cell(1, 1, 1)) {
		t.Error("a latency of several trials is labelled, and one of one trial is not")
	}
}
