package charts

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/test/sample"
)

func TestAGoalIsWhatWasAsked(t *testing.T) {
	for name, c := range map[string]struct {
		objective *summary.Objective
		want      goal
	}{
		"no objective":                      {nil, goal{}},
		"latency and availability":          {sample.Objective("p99", 250, 99.9), goal{"p99", 250, 99.9}},
		"latency only":                      {sample.Objective("p999", 1.5, 0), goal{"p999", 1.5, 0}},
		"availability only":                 {sample.Objective("", 0, 95), goal{"", 0, 95}},
		"a text only, of an older summary":  {&summary.Objective{Text: "p99 <= 250ms"}, goal{}},
		"a quantile without a latency":      {&summary.Objective{Quantile: "p99"}, goal{}},
		"a latency that cannot be compared": {&summary.Objective{Quantile: "p99", LatencyMS: ptr(math.NaN())}, goal{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, goalOf(c.objective)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
