package html

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/test/sample"
	"github.com/millicore/millicore/test/testkit/golden"
)

// The chart of breaking points against limits, and the page whose headline is the
// paragraph.
func TestBreakingPointsAreDrawnAgainstTheirLimits(t *testing.T) {
	s := sample.Settings().Summary
	names := []string{"a", "b", "c", "d"}
	c := newSizing(s, names)
	if d := cmp.Diff([]sizingTick{{323.3, "500m"}, {582.5, "1"}}, c.X); d != "" {
		t.Error(d)
	}
	if len(c.Points) != 3 || len(c.Free) != 1 {
		t.Fatalf("%d points and %d without a limit, want 3 and 1", len(c.Points), len(c.Free))
	}
	if a, b := c.Points[0], c.Points[1]; a.X >= b.X || a.Y <= b.Y || a.Top >= a.Y || a.Foot <= a.Y {
		t.Errorf("%+v, %+v: want the higher breaking point above, beside the other, each within its interval", a, b)
	}
	golden.Check(t, "sizing.html", sectionOf(t, pageOf(t, sample.Settings()), "sizing"))
	if newSizing(sample.Search().Summary, names) != nil {
		t.Error("a chart of one limit")
	}
}
