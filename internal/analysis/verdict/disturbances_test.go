package verdict

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
)

func TestTheEffectOfDisturbancesIsThatWithinCells(t *testing.T) {
	cell := func(by string, quiet, noisy []float64) *summary.Cell {
		return &summary.Cell{Disturbance: &summary.Disturbance{By: []string{by}, Trials: len(quiet) + len(noisy), Disturbed: len(noisy), Kept: 1, Quantile: "p99", Quiet: quiet, Noisy: noisy}}
	}
	search := &summary.Cell{Load: summary.Load{Find: true}, Disturbance: &summary.Disturbance{By: []string{summary.Hypervisor}, Trials: 20, Disturbed: 3}}
	for _, c := range []struct {
		name  string
		cells []*summary.Cell
		want  Disturbances
	}{
		{"none", nil, Disturbances{}},
		{"windows", []*summary.Cell{search}, Disturbances{By: []string{summary.Hypervisor}, Windows: Tally{3, 20}}},
		{"too few trials", []*summary.Cell{cell(summary.Hypervisor, []float64{1, 2}, []float64{5})},
			Disturbances{By: []string{summary.Hypervisor}, Trials: Tally{1, 3}, Kept: 1, Quantile: "p99"}},
		{"all disturbed", []*summary.Cell{cell(summary.Hypervisor, nil, []float64{5, 6, 7, 8})},
			Disturbances{By: []string{summary.Hypervisor}, Trials: Tally{4, 4}, Kept: 1, Quantile: "p99"}},
		{"two cells of other levels", []*summary.Cell{cell(summary.Hypervisor, []float64{1, 2, 3}, []float64{5, 6, 7}), cell(summary.Neighbours, []float64{101, 102, 103}, []float64{105, 106, 107})},
			Disturbances{By: []string{summary.Hypervisor, summary.Neighbours}, Trials: Tally{6, 12}, Kept: 2, Quantile: "p99", Effect: &Effect{Shift: 4, Low: 3, High: 5}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, DisturbancesOf(c.cells)); d != "" {
				t.Error(d)
			}
		})
	}
}
