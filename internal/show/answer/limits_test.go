package answer_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/show/narrative"
)

func TestLimitsAreAnsweredInTheirOrder(t *testing.T) {
	by := func(what string) func(*summary.BreakingPoint) {
		return func(b *summary.BreakingPoint) { b.LimitedBy = what }
	}
	s := &summary.Summary{Cells: []summary.Cell{
		limitedTo("a", 250, 0, func(b *summary.BreakingPoint) { b.Reason = "it misses the objective even at the lowest load tried" }),
		limitedTo("b", 500, 200, by(summary.ByThrottling)),
		limitedTo("c", 1000, 400, by(summary.ByThrottling)),
		limitedTo("d", 2000, 900, func(b *summary.BreakingPoint) { b.AtLeast, b.High = true, nil }),
		limitedTo("e", 0, 1200, by(summary.ByHost)),
	}}
	s.Cells[1].Objective = &summary.Objective{Text: "p99 <= 100ms"}
	s.Experiment.Server = &experiment.Server{Name: "api", Settings: []experiment.Setup{{Service: "a", Label: "as it is"}, {Service: "b", Label: "as it is"},
		{Service: "c", Label: "as it is"}, {Service: "d", Label: "as it is"}, {Service: "e", Label: "without the CPU limit"}, {Label: "GOMAXPROCS=1", NoEffect: "it still ran with 3"}}}
	got := map[string]string{"four limits": text(s)}
	sentences(t, "limits.txt", got)
	if d := cmp.Diff([]string{"as it is (250m)", "as it is (500m)", "as it is (1)", "as it is (2)", "without the CPU limit"}, narrative.CellNames(s)); d != "" {
		t.Error(d)
	}
}
