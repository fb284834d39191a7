package verdict

import (
	"math"
	"testing"

	"github.com/millicore/millicore/internal/analysis/stats"
)

// An end that is no number decides nothing.
func TestABoundIsNotDecidedByWhatIsNoNumber(t *testing.T) {
	nan, a := math.NaN(), 100.0
	for _, above := range []bool{true, false} {
		b := Bound{Metric: "p99", Above: above, Value: 10, Percent: true}
		for _, d := range []Difference{
			{Metric: "p99", A: &a, B: &a, Low: &nan, High: &nan, Verdict: Higher},
			{Metric: "p99", A: &a, B: &a, interval: &stats.Interval{Low: math.Inf(-1), High: math.Inf(1)}, Verdict: Alike},
			{Metric: "p99", A: &a, B: &a, interval: &stats.Interval{Low: nan, High: nan}, Verdict: Alike},
		} {
			if j := b.Judge(&d); j.Outcome != Undecided {
				t.Errorf("above %v: %+v, want undecided", above, j)
			}
		}
	}
}
