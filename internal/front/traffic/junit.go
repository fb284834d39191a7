package traffic

import (
	"io"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/show/report/junit"
)

// JUnit writes each threshold as a test case.
func JUnit(w io.Writer, url string, r *Result, kept []Kept) error {
	suite := junit.Suite{Name: "load", Started: r.All.Record.Run.Started, Seconds: r.Length.Seconds(), Properties: [][2]string{{"url", url}}}
	for _, k := range kept {
		one := junit.Case{Class: "threshold", Name: k.Threshold, Why: "met: " + k.Text()}
		switch k.Outcome {
		case summary.Missed:
			one.Outcome, one.Why = junit.Failed, "missed: "+k.Text()
		case summary.TooClose:
			one.Outcome, one.Why = junit.Skipped, k.Text()
		}
		suite.Cases = append(suite.Cases, one)
	}
	return junit.Write(w, []junit.Suite{suite})
}
