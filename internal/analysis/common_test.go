package analysis

import (
	"slices"
	"testing"
)

func TestTheCommonLoadIsBelowEveryBreakingPoint(t *testing.T) {
	cell := func(kind string, load float64, atLeast bool, flags ...Flag) CellSummary {
		c := CellSummary{Load: LoadSummary{Kind: kind}, Breaking: &BreakingPoint{AtLeast: atLeast}, Flags: flags}
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
		cells   []CellSummary
		want    float64
		without []int
	}{
		{"the lowest", []CellSummary{cell("open", 400, false), cell("open", 300, false), cell("open", 900, false)}, 210, nil},
		{"three digits", []CellSummary{cell("open", 40123, false)}, 28100, nil},
		{"a lower bound beside a breaking point", []CellSummary{cell("open", 400, false), cell("open", 300, true)}, 280, nil},
		{"lower bounds only", []CellSummary{cell("open", 400, true), cell("open", 300, true)}, 210, nil},
		{"users are whole", []CellSummary{cell("closed", 7, false)}, 4, nil},
		{"one user at least", []CellSummary{cell("closed", 1, false)}, 1, nil},
		{"one has none", []CellSummary{cell("open", 400, false), cell("open", 0, false)}, 0, []int{1}},
		{"one is not available", []CellSummary{cell("open", 400, false), cell("open", 0, false, FlagSkipped)}, 280, nil},
		{"none", nil, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Summary{Cells: c.cells}
			if got, without := s.CommonLoad(0.7); got != c.want || !slices.Equal(without, c.without) {
				t.Errorf("%v without %v, want %v without %v", got, without, c.want, c.without)
			}
		})
	}
}
