package narrative

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
)

func TestDifferentLoadsAreWrittenDifferently(t *testing.T) {
	users := 139.0
	for _, c := range []struct {
		b     *summary.BreakingPoint
		loads []float64
		want  []string
	}{
		{&summary.BreakingPoint{}, []float64{139, 152}, []string{"139", "152"}},
		{&summary.BreakingPoint{}, []float64{139.1, 139.4}, []string{"139.1", "139.4"}},
		{&summary.BreakingPoint{}, []float64{139.12, 139.14, 200}, []string{"139.12", "139.14", "200.00"}},
		{&summary.BreakingPoint{}, []float64{1234.4, 1233.9}, []string{"1,234.4", "1,233.9"}},
		{&summary.BreakingPoint{}, []float64{139, 139}, []string{"139", "139"}},
		{&summary.BreakingPoint{Users: &users}, []float64{139, 140}, []string{"139", "140"}},
		{&summary.BreakingPoint{}, nil, []string{}},
	} {
		if d := cmp.Diff(c.want, loadFigures(c.b, c.loads...)); d != "" {
			t.Errorf("%v: %s", c.loads, d)
		}
	}
	rate := 139.2
	c := &summary.Cell{Breaking: &summary.BreakingPoint{RateRPS: &rate, Held: &summary.Step{Target: 138.7}, Missed: &summary.Step{Target: 139.4}}}
	if got := TestedText(c); !strings.HasPrefix(got, "held 138.7 requests/s") || !strings.HasSuffix(got, "missed the objective at 139.4") {
		t.Errorf("%q", got)
	}
}
