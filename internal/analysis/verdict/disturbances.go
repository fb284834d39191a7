package verdict

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/signals"
)

// Disturbances are those of several cells together.
type Disturbances struct {
	By              []string
	Trials, Windows Tally
	Kept            int // disturbed trials that count
	Neighbours      []signals.Neighbour
	Quantile        string
	Effect          *Effect // on the quantile; nil: unknown
}

// Tally is how many of a number of trials or windows were disturbed.
type Tally struct{ Disturbed, Of int }

// Effect is by how many milliseconds the latencies of disturbed trials are above those
// of undisturbed trials of the same cell, with its 95% interval.
type Effect struct{ Shift, Low, High float64 }

// DisturbancesOf sums up cells.
func DisturbancesOf(cells []*summary.Cell) Disturbances {
	var all Disturbances
	var pairs []stats.Pair
	for _, c := range cells {
		of := &all.Trials
		if c.Load.Find {
			of = &all.Windows
		}
		d := c.Disturbance
		if d == nil {
			continue
		}
		of.Of += d.Trials
		of.Disturbed += d.Disturbed
		all.Kept += d.Kept
		all.Neighbours = disturbance.Busier(all.Neighbours, d.Neighbours)
		all.Quantile = d.Quantile
		for _, who := range d.By {
			if !slices.Contains(all.By, who) {
				all.By = append(all.By, who)
			}
		}
		if len(d.Quiet) > 0 && len(d.Noisy) > 0 {
			pairs = append(pairs, stats.Pair{Base: d.Quiet, Value: d.Noisy})
		}
	}
	if len(pairs) == 0 {
		return all
	}
	if shift, interval := stats.Stratified(pairs); interval != nil {
		all.Effect = &Effect{Shift: shift, Low: interval.Low, High: interval.High}
	}
	return all
}
