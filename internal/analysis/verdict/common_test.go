package verdict

import (
	"slices"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
)

func TestTheCommonLoadIsBelowEveryBreakingPoint(t *testing.T) {
	cell := func(kind string, load float64, atLeast bool, flags ...summary.Flag) summary.Cell {
		c := summary.Cell{Load: summary.Load{Kind: kind}, Breaking: &summary.BreakingPoint{AtLeast: atLeast}, Flags: flags}
		switch {
		case load == 0:
		case kind == "closed":
			c.Breaking.Users = &load
		default:
			c.Breaking.RateRPS = &load
		}
		return c
	}
	limited := cell("open", 400, true)
	limited.Breaking.LimitedBy = summary.ByGenerator
	for _, c := range []struct {
		name    string
		cells   []summary.Cell
		want    float64
		without []int
	}{
		{"the lowest", []summary.Cell{cell("open", 400, false), cell("open", 300, false), cell("open", 900, false)}, 210, nil},
		{"three digits", []summary.Cell{cell("open", 40123, false)}, 28100, nil},
		{"a lower bound beside a breaking point", []summary.Cell{cell("open", 400, false), cell("open", 300, true)}, 280, nil},
		{"lower bounds only", []summary.Cell{cell("open", 400, true), cell("open", 300, true)}, 300, nil},
		{"a lower bound of the generator", []summary.Cell{limited}, 280, nil},
		{"users are whole", []summary.Cell{cell("closed", 7, false)}, 4, nil},
		{"one user at least", []summary.Cell{cell("closed", 1, false)}, 1, nil},
		{"one has none", []summary.Cell{cell("open", 400, false), cell("open", 0, false)}, 0, []int{1}},
		{"one is not available", []summary.Cell{cell("open", 400, false), cell("open", 0, false, summary.FlagSkipped)}, 280, nil},
		{"none", nil, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := summary.Summary{Cells: c.cells}
			if got, held, without := CommonLoad(&s, 0.7); got != c.want || held != (c.name == "lower bounds only") || !slices.Equal(without, c.without) {
				t.Errorf("%v without %v, want %v without %v", got, without, c.want, c.without)
			}
		})
	}
}

// The trials at the common load are as long as the objective's quantile needs, if that is
// not too long.
func TestTheCommonLoadHasEnoughRequests(t *testing.T) {
	for _, test := range []struct {
		load     float64
		requests int64
		users    bool
		want     time.Duration
	}{
		{1000, 1000, false, time.Second}, // the caller keeps the planned 3 s
		{70, 1000, false, 4 * time.Second},
		{25, 1000, false, 11 * time.Second},
		{20, 1000, false, 0},
		{20, 200, false, 3 * time.Second},
		{70, 1000, true, 0},
	} {
		e := &experiment.Experiment{Cells: make([]experiment.Cell, 1)}
		e.Measure.Repeats, e.Measure.Duration = 4, 3*time.Second
		if test.users {
			e.Cells[0].Load.Users = &experiment.Target{Value: test.load}
		}
		if got := CommonDuration(e, test.load, test.requests); got != test.want {
			t.Errorf("%v/s, %d requests, users %v: %v, want %v", test.load, test.requests, test.users, got, test.want)
		}
	}
}
