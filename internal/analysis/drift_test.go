package analysis

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/test/testkit/fixture"
)

// A third must differ, and the order of all intervals must show it.
func TestADriftIsATrend(t *testing.T) {
	for _, c := range []struct {
		name string
		p99  []float64
		want bool
	}{
		{"four intervals, each twice the one before", []float64{10, 20, 40, 80}, false},
		{"five that rise", []float64{10, 11, 13, 15, 20}, true},
		{"five that fall", []float64{20, 15, 13, 11, 10}, true},
		{"five that rise a little", []float64{10, 11, 12, 13, 14}, false},
		{"five in another order", []float64{10, 13, 11, 15, 20}, false},
		{"eight that rise, with one exchanged", []float64{10, 10.5, 13, 11, 20, 21, 22, 30}, true},
		{"a step in the middle of ten", []float64{1, 1.2, 0.9, 1.1, 1.05, 9.5, 10, 9.2, 10.5, 9.8}, true},
		{"pauses at the end", []float64{10, 10.1, 9.9, 10.2, 9.8, 10, 100, 9.7, 100}, false},
	} {
		if got := drifts(c.p99); got != c.want {
			t.Errorf("%s: drifts %v, want %v", c.name, got, c.want)
		}
	}
}

// A service that becomes four times as fast at 80 requests/s: an interval of a second has too
// few requests, and two have enough.
func TestAWarmUpOfFewRequestsIsADrift(t *testing.T) {
	var d drift
	for i := range 11 {
		took := 40*time.Millisecond - time.Duration(i)*3*time.Millisecond
		d.add(fixture.Client(i, signals.Measure, 80, took))
	}
	if len(d.p50) != 5 || !d.unsteady() {
		t.Errorf("%v: not a drift", d.p50)
	}
}

// The false alarms of the order of five frames, over all orders.
func TestFalseAlarmsOfFiveFrames(t *testing.T) {
	orders, alarms := 0, 0
	var each func(v []float64, k int)
	each = func(v []float64, k int) {
		if k == len(v) {
			if orders++; drifts(v) {
				alarms++
			}
			return
		}
		for i := k; i < len(v); i++ {
			v[k], v[i] = v[i], v[k]
			each(v, k+1)
			v[k], v[i] = v[i], v[k]
		}
	}
	each([]float64{10, 20, 40, 80, 160}, 0)
	if orders != 120 || alarms != 2 {
		t.Errorf("%d of %d orders are alarms, want 2 of 120", alarms, orders)
	}
}

// A constant service beside neighbours is slower while they are there, and so is one whose
// generator sends late. Neither shows that the service had not settled.
func TestOthersDoNotUnsettleAService(t *testing.T) {
	e := fixture.Experiment(experiment.Load{Rate: &experiment.Target{Value: 100}})
	late := func(f *signals.Frame) *signals.Frame {
		for range 5 {
			f.Client.SendLag.Record(40 * time.Millisecond)
		}
		return f
	}
	beside := func(h signals.Host) func(int) []*signals.Frame {
		return func(i int) []*signals.Frame {
			h.CPUs = 2
			return []*signals.Frame{{Trial: 1, Seq: i, Phase: signals.Measure, Start: int64(i) * 1e9, End: int64(i+1) * 1e9, Host: &h}}
		}
	}
	for _, c := range []struct {
		name  string
		state State
		late  bool
		more  func(int) []*signals.Frame
		want  bool

		replay string
	}{
		{"nothing else", Complete, false, beside(signals.Host{Idle: 1.5}), true, ""},
		{"the load changed, as it was recorded", Complete, false, beside(signals.Host{Idle: 1.5}), false, "access.log"},
		{"the generator sent late", Complete, true, beside(signals.Host{Idle: 1.5}), false, ""},
		{"others took CPU", Complete, false, beside(signals.Host{Idle: 0.5, Foreign: 1}), false, ""},
		{"the hypervisor took CPU", Complete, false, beside(signals.Host{Idle: 0.5, Steal: 0.5}), false, ""},
		{"disturbed, as the lab judged", Disturbed, false, beside(signals.Host{Idle: 1.5}), false, ""},
	} {
		e.Cells[0].Load.Replay = c.replay
		b := New(e, []Attempt{{Trial: 1, State: c.state}})
		for i, p99 := range []time.Duration{10, 50, 100, 150, 200, 250} {
			f := fixture.Client(i, signals.Measure, 100, p99*time.Millisecond)
			if c.late {
				f = late(f)
			}
			b.Add(f)
			for _, f := range c.more(i) {
				b.Add(f)
			}
		}
		if got := b.Cells()[0].Has(summary.FlagUnsteady); got != c.want {
			t.Errorf("%s: unsteady %v, want %v", c.name, got, c.want)
		}
	}
}
