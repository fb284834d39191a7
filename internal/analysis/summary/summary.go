// Package summary has the types of summary.json and of the series beside it: what a
// record says, as values. It answers questions about them, such as whether a cell has a
// flag, or the kind of a record. It computes no figure from frames and judges nothing:
// package analysis does.
package summary

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
)

// Summary is summary.json: what a record says, for programs. Values that were not
// measured are null, never 0.
type Summary struct {
	Experiment Experiment  `json:"experiment"`
	Host       record.Host `json:"host"`
	Cells      []Cell      `json:"cells"`
	// Comparisons are with the first cell that has enough trials.
	Comparisons []Comparison `json:"comparisons,omitempty"`
	// Unbounded are those of which not every figure is a number, which JSON cannot write.
	Unbounded []Unbounded `json:"-"`
	// Ranking is the evidence for each pair of cells, by the figure of Comparisons.
	Ranking  []Evidence `json:"ranking,omitempty"`
	Claims   []Claim    `json:"claims,omitempty"` // of the experiment, in its order
	Findings []Finding  `json:"findings"`
	// Common is the second part of a run of searches: every cell at one load. null: there
	// is none, or the run ended before.
	Common *Summary `json:"common_load,omitempty"`
}

// Experiment names the experiment, and how much of it the record holds.
type Experiment struct {
	Name          string `json:"name"`
	About         string `json:"about,omitempty"`
	Started       string `json:"started"` // RFC 3339
	Platform      string `json:"platform"`
	Seed          uint64 `json:"seed"`
	TrialsPlanned int    `json:"trials_planned"`
	TrialsDone    int    `json:"trials_done"`
	Interrupted   bool   `json:"interrupted"`
	Kept          bool   `json:"kept,omitempty"` // services stayed up between the trials of their cells
	// Server: the services are one server in several settings; null: they are not.
	Server *experiment.Server `json:"server,omitempty"`
}

// Finding is a statement about the record, with its numbers in the text.
type Finding struct {
	Level string `json:"level"` // result, warning
	Cell  *int   `json:"cell"`  // index; null: the whole record
	Title string `json:"title"`
	Text  string `json:"text"`
	// What and Why are what Title and Text have in words.
	What finding.Finding   `json:"-"`
	Why  []finding.Finding `json:"-"`
	// Searched: the answer of a search, which the cell's breaking point has too.
	Searched bool `json:"-"`
}

// Quantile is the latency quantile by which the cells of a record are ranked, and that
// headlines and tables show: that of their objective, or p99 if it has none.
func (s *Summary) Quantile() string {
	for i := range s.Cells {
		if o := s.Cells[i].Objective; o != nil { // the record has one
			return s.Cells[i].Quantile()
		}
	}
	return "p99"
}

// Objective is the outcome of all cells together: Missed if one missed its objective,
// otherwise Unknown or TooClose if that is not known of one, and Met if all met it; "": no
// cell has an objective. Cells whose service was skipped do not count, since a missing
// program says nothing about the service; a finding and a flag report them. If all cells
// with an objective were skipped, it is Unknown.
func (s *Summary) Objective() Outcome {
	all := Outcome("")
	skipped := false
	for i := range s.Cells {
		c := &s.Cells[i]
		switch {
		case c.Objective == nil:
		case c.Skipped():
			skipped = true
		default:
			all = all.With(c.Objective.Outcome)
		}
	}
	if all == "" && skipped {
		return Unknown
	}
	return all
}

// Invalid reports whether a limit did not hold in a trial of any cell.
func (s *Summary) Invalid() bool {
	return slices.ContainsFunc(s.Cells, func(c Cell) bool { return c.Has(FlagInvalid) }) || s.Common != nil && s.Common.Invalid()
}

// WhyInvalid is why a limit of a cell did not hold; "" if all did.
func (s *Summary) WhyInvalid(cell int) string { return s.found(cell, finding.TrialsInvalid) }

// WhyFailed is how many trials of a cell failed, and why; "" if none did.
func (s *Summary) WhyFailed(cell int) string { return s.found(cell, finding.TrialsFailed) }

func (s *Summary) found(cell int, kind finding.Kind) string {
	for _, f := range s.Findings {
		if f.Cell != nil && *f.Cell == cell && f.What.Kind == kind {
			return f.Text
		}
	}
	return ""
}
