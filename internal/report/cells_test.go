package report

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/report/sample"
)

func ptr[T any](v T) *T { return &v }

// change is what a case is about; package sample has the builders.
type change = sample.Change

var (
	cellOf        = sample.CellOf
	procs         = sample.ProcsCell
	p99At         = sample.P99At
	within        = sample.Within
	frames        = sample.OfFrames
	trials        = sample.TrialsAt
	breaksBetween = sample.BreaksBetween
	searches      = sample.SearchesOf
	staged        = sample.Staged
	noPoint       = sample.NoPoint
)

func TestTheLatenciesOfTheTableAndOfTheTestsAreNamed(t *testing.T) {
	cells := []analysis.CellSummary{procs("1", p99At(150)), procs("2", p99At(560))}
	for metric, want := range map[string]string{
		"latency_ms.p999":            "Latencies are over all requests of a cell. The tests use the p99.9 of each trial.",
		analysis.BreakingPointMetric: "",
		"":                           "",
	} {
		s := &analysis.Summary{Cells: cells}
		if metric != "" {
			s.Comparisons = []analysis.Comparison{{Metric: metric, Cell: 1}}
		}
		if got := New(s).CellsNote; got != want {
			t.Errorf("tests of %q: %q, want %q", metric, got, want)
		}
	}
}
