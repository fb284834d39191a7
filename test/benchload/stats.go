package main

import (
	"math"
	"slices"
)

// spread is the median of some figures and their range.
type spread struct {
	Median, Low, High float64
	N                 int
}

// spreadOf ignores NaN.
func spreadOf(figures []float64) spread {
	known := slices.DeleteFunc(slices.Clone(figures), math.IsNaN)
	if len(known) == 0 {
		return spread{math.NaN(), math.NaN(), math.NaN(), 0}
	}
	slices.Sort(known)
	n := len(known)
	return spread{(known[(n-1)/2] + known[n/2]) / 2, known[0], known[n-1], n}
}

// of collects a figure of one tool's runs of one case, by round.
func of(runs []run, what, tool string, figure func(*run) float64) []float64 {
	var all []float64
	for i := range runs {
		if r := &runs[i]; r.Case == what && r.Tool == tool && r.Failure == "" {
			all = append(all, figure(r))
		}
	}
	return all
}

// paired is the ratio of one tool's figure to another's, round by round, because within
// a round the state of the machine is similar.
func paired(runs []run, what, tool, other string, figure func(*run) float64) []float64 {
	byRound := map[int]float64{}
	for i := range runs {
		if r := &runs[i]; r.Case == what && r.Tool == other && r.Failure == "" {
			byRound[r.Round] = figure(r)
		}
	}
	var all []float64
	for i := range runs {
		r := &runs[i]
		if against, ok := byRound[r.Round]; ok && r.Case == what && r.Tool == tool && r.Failure == "" {
			all = append(all, figure(r)/against)
		}
	}
	return all
}
