package junit

import (
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/show/narrative"
)

// Of is the suite of a record: the objective of each cell, and each claim. A cell that
// was skipped, because something is not installed, skips its objective, and so does one of
// which the record does not show whether it meets it; a claim that could not be judged is
// skipped. A cell with a trial in which a limit did not hold has a
// case with an error; its objective is skipped if it has no other trial.
func Of(s *summary.Summary) Suite {
	suite := Suite{Name: s.Experiment.Name, Properties: [][2]string{{"platform", s.Experiment.Platform}}}
	if started, err := time.Parse(time.RFC3339, s.Experiment.Started); err == nil {
		suite.Started = started
	}
	names := narrative.CellNames(s)
	for i := range s.Cells {
		c := &s.Cells[i]
		if c.Has(summary.FlagInvalid) {
			suite.Cases = append(suite.Cases, Case{Class: "limits", Name: names[i] + ": the limits held", Outcome: Errored, Why: s.WhyInvalid(c.Cell)})
		}
		if c.Objective == nil {
			continue
		}
		one := Case{Class: "objective", Name: names[i] + ": " + c.Objective.Text, Why: narrative.ObjectiveFigures(c)}
		switch {
		case c.Skipped(), c.Trials == 0 && c.Has(summary.FlagInvalid):
			one.Outcome = Skipped
		case c.Objective.Outcome == summary.Missed:
			one.Outcome = Failed
		case c.Objective.Outcome != summary.Met:
			one.Outcome = Skipped
		}
		suite.Cases = append(suite.Cases, one)
	}
	for i := range s.Claims {
		c := &s.Claims[i]
		one := Case{Class: "claim", Name: c.Says, Why: c.Verdict.String() + ": " + c.Reason}
		switch c.Verdict {
		case summary.Reproduced:
		case summary.NotReproduced:
			one.Outcome = Failed
		default:
			one.Outcome = Skipped
		}
		suite.Cases = append(suite.Cases, one)
	}
	return suite
}
