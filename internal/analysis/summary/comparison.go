package summary

import "strings"

// Comparison compares one figure of a cell with a baseline, by the tests of Ranking: the
// objective's quantile (p99 without one), the breaking point of a search, or each
// figure of a benchmark. The baseline is the first cell that has enough trials of it; of a
// server that is held against the one before a change, the cell of that one.
// Shift is the Hodges-Lehmann estimate.
type Comparison struct {
	Cell        int     `json:"cell"`
	Baseline    int     `json:"baseline"`
	Metric      string  `json:"metric"` // a field path of the cell
	Base        float64 `json:"base"`   // the baseline's median over trials
	Value       float64 `json:"value"`  // the cell's
	Shift       float64 `json:"shift"`  // in the metric's unit
	Low         float64 `json:"low"`    // of the shift's 95% interval
	High        float64 `json:"high"`
	P           float64 `json:"p"`           // two-sided, exact where there are no ties
	PHolm       float64 `json:"p_holm"`      // after Holm's correction over the comparisons with this baseline
	PFamily     float64 `json:"p_family"`    // corrected over all pairs of cells: see Ranking
	Significant bool    `json:"significant"` // PFamily < 0.05
	Trials      [2]int  `json:"trials"`      // of the baseline, of the cell
}

// Unbounded is a comparison of which a figure is infinite, because so many requests of a
// trial failed, or not known, because it is a bound. Base, Value and Shift are the lower
// ends of what is known, these the upper ends.
type Unbounded struct {
	Comparison
	BaseTo, ValueTo, ShiftTo float64
}

// Basis is what the comparison of two cells rests on.
type Basis string

const (
	OverTrials    Basis = "test"           // Brunner and Munzel's test over trials
	CensoredRanks Basis = "censored ranks" // the same test, of values of which some are only bounds
	Untested      Basis = "not tested"     // see Gap
)

// Gap is why two cells were not tested against one another.
type Gap string

const (
	NoFigure    Gap = "not measured"
	FewTrials   Gap = "too few trials"
	OneStart    Gap = "one start"        // the trials are of one process, so they are no sample of starts
	FewRequests Gap = "too few requests" // for the percentile
	// DisturbedTrials: most trials of a cell that count are disturbed, so its figures show
	// what others did as well.
	DisturbedTrials Gap = "disturbed trials"
	// GeneratorsDelay: most of the time of a cell's slow tail is the generator's, so the
	// latency is no figure of the service.
	GeneratorsDelay Gap = "generator's delay"
)

// Evidence is what the record shows of one figure of two cells. Every front end takes
// from it whether one cell may be placed before another.
type Evidence struct {
	Cell    int     `json:"cell"`
	Other   int     `json:"other"`
	Metric  string  `json:"metric"` // a field path of the cell
	Basis   Basis   `json:"basis"`
	Gap     Gap     `json:"gap,omitempty"` // why it was not tested
	Sign    int     `json:"direction"`     // 1: the cell lies above the other one, significantly; -1: below; 0: neither was shown
	P       float64 `json:"p"`             // two-sided; 1 if not tested
	PFamily float64 `json:"p_family"`      // corrected over all pairs of the cells that are ranked together
	Cells   int     `json:"cells"`         // ranked together; if the two were not tested, those that have the figure
	Trials  [2]int  `json:"trials"`        // of the cell, of the other one
}

// Quantile is the latency quantile that was tested; "": the figure is none.
func (e *Evidence) Quantile() string {
	quantile, ok := strings.CutPrefix(e.Metric, LatencyPrefix)
	if !ok {
		return ""
	}
	return quantile
}
