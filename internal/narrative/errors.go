package narrative

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis"
)

// Failure is a kind of failed requests, in the glossary's words.
type Failure struct {
	Name string // of a figure: "refused"
	Did  string // after a number of requests: "were refused"
	N    int64  // of requests
}

// BadStatus is the name of the answers whose status was not accepted.
const BadStatus = "bad status"

// Failures are the kinds of failed requests that occurred, in the glossary's
// order.
func Failures(e *analysis.ErrorCounts) []Failure {
	return slices.DeleteFunc([]Failure{
		{"timeout", "timed out", e.Timeouts},
		{"refused", "were refused", e.Refused},
		{"cut off", "were cut off", e.Cut},
		{"malformed", "got an answer that was not HTTP", e.Malformed},
		{"failed check", "got an answer that failed a check", e.Failed},
		{BadStatus, "got an error status", BadStatuses(e)},
		{"dropped", "were due and never sent", e.Dropped},
	}, func(f Failure) bool { return f.N == 0 })
}

// BadStatuses is the number of answers whose status was not accepted.
func BadStatuses(e *analysis.ErrorCounts) int64 {
	var all int64
	for _, n := range e.Status {
		all += n
	}
	return all
}
