package capacity

import (
	"slices"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
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
	for _, c := range []struct {
		name    string
		cells   []summary.Cell
		want    float64
		without []int
	}{
		{"the lowest", []summary.Cell{cell("open", 400, false), cell("open", 300, false), cell("open", 900, false)}, 210, nil},
		{"three digits", []summary.Cell{cell("open", 40123, false)}, 28100, nil},
		{"a lower bound beside a breaking point", []summary.Cell{cell("open", 400, false), cell("open", 300, true)}, 280, nil},
		{"lower bounds only", []summary.Cell{cell("open", 400, true), cell("open", 300, true)}, 210, nil},
		{"users are whole", []summary.Cell{cell("closed", 7, false)}, 4, nil},
		{"one user at least", []summary.Cell{cell("closed", 1, false)}, 1, nil},
		{"one has none", []summary.Cell{cell("open", 400, false), cell("open", 0, false)}, 0, []int{1}},
		{"one is not available", []summary.Cell{cell("open", 400, false), cell("open", 0, false, summary.FlagSkipped)}, 280, nil},
		{"none", nil, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := summary.Summary{Cells: c.cells}
			if got, without := CommonLoad(&s, 0.7); got != c.want || !slices.Equal(without, c.without) {
				t.Errorf("%v without %v, want %v without %v", got, without, c.want, c.without)
			}
		})
	}
}
