// Package narrative has the sentences about a record and its cells: facts, findings,
// warnings, the answers of compare. Every front end takes them from here or, for its first
// lines, from package answer, so that a result has one name everywhere.
//
// It ranks nothing and compares no figures: which cell is best, and how certain that
// is, are values of package analysis. How sentences are laid out is decided by packages
// report and compare.
package narrative

import (
	"fmt"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
)

// fewNames is how many cells a sentence names before it gives the ends only.
const fewNames = 4

// gapText is why cells were not tested against one another. fewest is the number of
// trials of the cell that has the fewest; quantile is the latency, if it is one.
func gapText(gap summary.Gap, fewest, cells int, quantile string) string {
	switch gap {
	case summary.OneStart:
		return "the services were not restarted between trials, so each shows one start only"
	case summary.FewRequests:
		return fmt.Sprintf("a %s needs %s requests of each cell", QuantileName(quantile), display.Grouped(verdict.RequestsFor(quantile)))
	}
	return fmt.Sprintf("%d %s per cell, and a ranking needs at least %d", fewest, plural("trial", fewest), verdict.Needs(cells))
}

// plural is the word for a number of trials, searches or ramps.
func plural(what string, n int) string {
	switch {
	case n == 1:
		return what
	case what == "search":
		return "searches"
	}
	return what + "s"
}

// latency writes a figure of a cell's latency: "113 ms", "≥10.0 s" if the failed
// requests hide it.
func latency(v float64, atLeast bool) string {
	if atLeast {
		return "≥" + display.WithUnit(v)
	}
	return display.WithUnit(v)
}
