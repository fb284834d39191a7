package capacity

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/lab/wording"
	"github.com/millicore/millicore/test/testkit/fixture"
)

func TestAThrottledAgentMakesAWindowUseless(t *testing.T) {
	e := fixture.Search()
	o := Observe(e, &e.Cells[0], 100)
	o.Add(fixture.ThrottledFor(0.05))
	if by := o.outside(); by != summary.ByGenerator || !strings.Contains(wording.Of(o.shownOutside(by)), "throttled by its own CPU limit for 0.05 s") {
		t.Errorf("%q: %s", by, wording.Of(o.shownOutside(by)))
	}
}

// Five of the hundred requests of a level may not have been sent.
func TestAgentsThatAreLostMakeARampABound(t *testing.T) {
	e := fixture.Ramp(100, 200, 300)
	e.Cells[0].Load.Agents = 20
	r := rampsOf(e, []fixture.Level{fixture.Fine, fixture.Fine, fixture.Slow}, []fixture.Level{fixture.Fine, fixture.Fine, fixture.Slow})
	r.Trials[1].Lost = 1
	b := worded(r.BreakingPoint(r.Steps()))
	if *b.RateRPS != 190 || *b.Low != 190 || b.High != nil || !b.AtLeast || b.LimitedBy != summary.ByGenerator {
		t.Errorf("%+v", b)
	}
	if b.Evidence != "19 of 20 agents ran until the end of trial 2" || !strings.HasPrefix(b.Reason, "agents stopped early, and up to 5% of the load was missing") {
		t.Errorf("%s; %s", b.Evidence, b.Reason)
	}
}
