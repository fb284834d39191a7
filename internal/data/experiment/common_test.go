package experiment

import (
	"testing"
	"time"
)

func TestTheSecondPartHoldsOneLoad(t *testing.T) {
	e := &Experiment{Cells: []Cell{
		{Load: Load{Find: true, Rate: &Target{Value: 50}, Agents: 2}},
		{Index: 1, Load: Load{Find: true, Rate: &Target{Value: 50}, Agents: 2}},
	}, Profile: true, Claims: []Claim{{}}, Server: &Server{},
		Measure: Measure{Warmup: 3 * time.Second, Duration: time.Minute, Repeats: 1, Interval: 500 * time.Millisecond,
			Common: &Common{Percent: 70, Warmup: time.Second, Duration: 4 * time.Second, Repeats: 6}}}
	at := e.At(210)
	for i := range at.Cells {
		if l := &at.Cells[i].Load; l.Find || l.Rate.Value != 210 || l.Agents != 2 {
			t.Errorf("cell %d: %+v", i, l)
		}
	}
	if m := at.Measure; m.Warmup != time.Second || m.Duration != 4*time.Second || m.Repeats != 6 || m.Interval != 500*time.Millisecond || m.Common != nil {
		t.Errorf("%+v", m)
	}
	if at.Profile || at.Claims != nil || at.CommonLoad() != nil {
		t.Error("what belongs to the searches is in the second part too")
	}
	if at.Server != e.Server {
		t.Error("the second part does not know which cell is the server before a change")
	}
	if !e.Cells[0].Load.Find || e.Cells[0].Load.Rate.Value != 50 || e.CommonLoad() == nil {
		t.Error("the searches have changed")
	}
	closed := &Experiment{Cells: []Cell{{Load: Load{Find: true, Users: &Target{Value: 1}, Agents: 4}}}, Measure: e.Measure}
	if l := closed.At(3).Cells[0].Load; l.Users.Value != 3 || l.Agents != 3 {
		t.Errorf("%+v, want 3 users and no more agents than users", l)
	}
	e.Cells[0].Load.Find = false
	if e.CommonLoad() != nil {
		t.Error("a common load without searches")
	}
}
