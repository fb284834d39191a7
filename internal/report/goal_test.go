package report

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/millicore/millicore/internal/analysis"
)

func TestAGoalIsWhatWasAsked(t *testing.T) {
	for name, c := range map[string]struct {
		objective *analysis.ObjectiveSummary
		want      goal
	}{
		"no objective":                      {nil, goal{}},
		"latency and availability":          {objectiveOf("p99", 250, 99.9), goal{"p99", 250, 99.9}},
		"latency only":                      {objectiveOf("p999", 1.5, 0), goal{"p999", 1.5, 0}},
		"availability only":                 {objectiveOf("", 0, 95), goal{"", 0, 95}},
		"a text only, of an older summary":  {&analysis.ObjectiveSummary{Text: "p99 <= 250ms"}, goal{}},
		"a quantile without a latency":      {&analysis.ObjectiveSummary{Quantile: "p99"}, goal{}},
		"a latency that cannot be compared": {&analysis.ObjectiveSummary{Quantile: "p99", LatencyMS: ptr(math.NaN())}, goal{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, goalOf(c.objective)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestALoadMeetsItsGoal(t *testing.T) {
	both := goal{Quantile: "p99", MS: 250, Availability: 99.9}
	at := func(p99 float64, available *float64) *analysis.Step {
		return &analysis.Step{LatencyMS: &analysis.Quantiles{P99: p99}, Availability: available}
	}
	for name, c := range map[string]struct {
		goal goal
		step *analysis.Step
		want *bool
	}{
		"met":                                  {both, at(250, ptr(99.9)), ptr(true)},
		"too slow":                             {both, at(251, ptr(100.0)), ptr(false)},
		"too many errors":                      {both, at(10, ptr(99.8)), ptr(false)},
		"no latency was measured":              {both, &analysis.Step{Availability: ptr(100.0)}, nil},
		"no latency, but errors enough":        {both, &analysis.Step{Availability: ptr(50.0)}, ptr(false)},
		"no availability was measured":         {both, at(10, nil), nil},
		"too slow, whatever the availability":  {both, at(300, nil), ptr(false)},
		"a quantile that is not kept":          {goal{Quantile: "p75", MS: 10}, at(5, nil), nil},
		"nothing was asked":                    {goal{}, at(5, nil), nil},
		"availability alone":                   {goal{Availability: 99}, at(5000, ptr(99.5)), ptr(true)},
		"latency alone, with errors in plenty": {goal{Quantile: "p99", MS: 250}, at(5, ptr(1.0)), ptr(true)},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.goal.met(c.step)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
