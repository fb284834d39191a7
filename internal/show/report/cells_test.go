package report

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/test/sample"
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

func TestTheFiguresOfTheTableAreNamed(t *testing.T) {
	few := procs("3", p99At(5))
	few.Requests = 100
	tail := func(periods int64) summary.Cell {
		c := procs("1", p99At(150))
		c.Requests, c.Objective = 20000, sample.Objective("p999", 500, 0)
		c.CPU.Periods, c.Limits.CPUMillis = ptr(periods), ptr(int64(1000))
		return c
	}
	for want, cells := range map[string][]summary.Cell{
		"Rates and latencies are medians over the trials of a cell.": {procs("1", p99At(150), trials(140, 160)), procs("2", p99At(560))},
		"": {procs("1", p99At(150)), procs("2", p99At(560))},
		"~: fewer than 10 requests lie beyond this percentile.":                                 {few},
		"Fewer than 1,000 quota periods were measured in a cell: too few for a reliable p99.9.": {tail(1000), tail(999)},
	} {
		if got := New(&summary.Summary{Cells: cells}).CellsNote; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
