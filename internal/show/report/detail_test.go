package report

import (
	"slices"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
)

// Requests that were sent twice are among the details if they are more than 1%.
func TestManyResentRequestsAreADetail(t *testing.T) {
	for resent, want := range map[int64]string{0: "", 10: "", 11: "11 (1.1%): the service had closed the idle connection, or did not process them", 400: "400 (40%): the service had closed the idle connection, or did not process them"} {
		facts := requestFacts(&cellSummary{Requests: 1000, Generator: summary.Generator{Resent: resent}})
		got := ""
		if at := slices.IndexFunc(facts, func(f Fact) bool { return f.Name == "resent" }); at >= 0 {
			got = facts[at].Text
		}
		if got != want {
			t.Errorf("%d of 1000: %q, want %q", resent, got, want)
		}
	}
}
