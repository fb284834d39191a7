package answer_test

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/show/answer"
)

// A master ends its workers in turn, or because they are too slow. Only the second fails
// requests: gunicorn's answer 500.
func TestWorkersThatEndWhileRequestsFail(t *testing.T) {
	for _, c := range []struct {
		ended  int64
		errors summary.ErrorCounts
		want   bool
	}{
		{20, summary.ErrorCounts{Cut: 1, Status: map[string]int64{"500": 19}}, true},
		{20, summary.ErrorCounts{Cut: 20}, true},
		{20, summary.ErrorCounts{}, false},
		{20, summary.ErrorCounts{Status: map[string]int64{"404": 50}}, false},
		{0, summary.ErrorCounts{Cut: 20}, false},
	} {
		cell := procs("1", p99At(150), within(145, 155))
		cell.Ended, cell.Errors = &c.ended, c.errors
		all := strings.Join(answer.Of(&summary.Summary{Cells: []summary.Cell{cell}}).Caveats, " ")
		if strings.Contains(all, "20 processes") != c.want {
			t.Errorf("%d ended, %+v: %q", c.ended, c.errors, all)
		}
	}
}
