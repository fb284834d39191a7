package results

import (
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/exit"
)

// NotMet is the error that stands for an outcome, an exit.NotMet; nil: the objective was met,
// or there was none.
func NotMet(o summary.Outcome) error {
	switch o {
	case "", summary.Met:
		return nil
	case summary.Missed:
		return exit.NotMet(exit.Missed)
	}
	return exit.NotMet(exit.Undecided)
}
