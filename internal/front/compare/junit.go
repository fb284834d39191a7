package compare

import (
	"io"

	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/show/report/junit"
)

// JUnit writes each bound of --fail-on, for each pair of cells, as a test case. A bound
// that is undecided is skipped, or failed if strict.
func JUnit(w io.Writer, r *Result, matches []Match, strict bool) error {
	suite := junit.Suite{Name: r.B.Experiment, Started: matches[0].B.Run.Started,
		Properties: [][2]string{{"A", r.A.Record}, {"B", r.B.Record}}}
	for i := range r.FailOn {
		j := &r.FailOn[i]
		one := junit.Case{Class: "compare", Name: j.Cell + ": " + j.Bound, Why: string(j.Outcome) + ": " + j.Why}
		switch {
		case j.Outcome == verdict.Broken:
			one.Outcome = junit.Failed
		case j.Outcome == verdict.Undecided:
			one.Why = "undecided: " + j.Why
			if one.Outcome = junit.Skipped; strict {
				one.Outcome = junit.Failed
			}
		}
		suite.Cases = append(suite.Cases, one)
	}
	return junit.Write(w, []junit.Suite{suite})
}
