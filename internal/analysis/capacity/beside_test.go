package capacity

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
)

// A limit is not named if most requests that were late above the breaking point waited while
// some of it was left, unless the same service holds more without it.
func TestALimitThatLateRequestsDidNotWaitFor(t *testing.T) {
	for _, c := range []struct {
		name    string
		by      string
		atLeast bool
		may, of float64
		want    string
	}{
		{"all may have waited for it", summary.ByThrottling, false, 40, 40, summary.ByThrottling},
		{"six of seven may have", summary.ByThrottling, false, 36, 42, summary.ByThrottling},
		{"five of six may have", summary.ByThrottling, false, 35, 42, ""},
		{"none, of its CPU limit", summary.ByCPULimit, false, 0, 5, ""},
		{"too few are known", summary.ByCPULimit, false, 0, 4, summary.ByCPULimit},
		{"none are known", summary.ByThrottling, false, 0, 0, summary.ByThrottling},
		{"another cause", summary.ByService, false, 0, 40, summary.ByService},
		{"a lower bound", summary.ByThrottling, true, 0, 40, summary.ByThrottling},
	} {
		shown := []finding.Finding{{Kind: finding.ThrottledInBursts, Use: finding.Use{OfLimit: new(0.7)}}}
		b := &summary.BreakingPoint{RateRPS: new(300.0), Low: new(290.0), High: new(310.0), LimitedBy: c.by, AtLeast: c.atLeast, Shown: shown, FirstKind: "slow"}
		WithholdBeside(b, func() (may, of float64) { return c.may, c.of })
		if b.LimitedBy != c.want {
			t.Errorf("%s: %q, want %q", c.name, b.LimitedBy, c.want)
		}
		if c.want != "" {
			continue
		}
		if b.Refuted.Kind != finding.LateBesideLimit || b.Refuted.Share != 1-c.may/c.of || b.Refuted.Text != "slow" || len(b.Shown) > 0 {
			t.Errorf("%s: %+v", c.name, b.Refuted)
		}
		free := &summary.BreakingPoint{RateRPS: new(400.0), Low: new(390.0), High: new(410.0)}
		if got := withoutLimit(b, free); got.LimitedBy != summary.ByThrottling || !got.Refuted.None() {
			t.Errorf("%s, and it holds more without the limit: %q, %+v", c.name, got.LimitedBy, got.Refuted)
		}
		free.RateRPS, free.Low, free.High = new(305.0), new(295.0), new(315.0)
		if got := withoutLimit(b, free); got.LimitedBy != "" {
			t.Errorf("%s, and it holds as much without the limit: %q", c.name, got.LimitedBy)
		}
	}
}
