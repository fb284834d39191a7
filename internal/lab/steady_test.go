package lab

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/test/testkit"
)

// The clock is set between the second and the third reading of a trial: the intervals
// follow each other nevertheless.
func TestTheClockIsSetDuringATrial(t *testing.T) {
	for _, ahead := range []time.Duration{-3 * time.Hour, -time.Second, time.Second, 3 * time.Hour} {
		began, readings := time.Now(), 0 // not in a bubble, whose times are not monotonic
		s := &sampler{trial: 1, began: began, noHost: true, sampled: func(int) {}}
		s.sources = []*source{{of: "go", read: func() (signals.Counters, error) {
			at := began.Add(time.Duration(readings) * 100 * time.Millisecond)
			if readings++; readings > 2 {
				at = testkit.AfterClockSet(t, at, ahead)
			}
			return signals.Counters{At: at}, nil
		}}}
		var got []time.Duration
		s.out = func(f *signals.Frame) {
			got = append(got, time.Duration(f.Start-began.UnixNano()), time.Duration(f.End-began.UnixNano()))
		}
		s.first()
		for seq := range 3 {
			s.sample(seq, signals.Measure)
		}
		const ms = time.Millisecond
		if d := cmp.Diff([]time.Duration{0, 100 * ms, 100 * ms, 200 * ms, 200 * ms, 300 * ms}, got); d != "" {
			t.Errorf("set by %v: begins and ends %s", ahead, d)
		}
	}
}

// The clock is set while a replica is down.
func TestTheClockIsSetDuringAWindow(t *testing.T) {
	for _, ahead := range []time.Duration{-time.Hour, time.Hour} {
		began := time.Now()
		replica := &scripted{sample: func(n int) (signals.ThrottleSample, error) {
			at := began.Add(time.Duration(n) * 100 * time.Millisecond)
			if n > 3 {
				at = testkit.AfterClockSet(t, at, ahead)
			}
			return signals.ThrottleSample{At: at, Up: n < 2 || n > 4}, nil
		}}
		var got []time.Duration
		w := &watcher{trial: 1, began: began, out: func(v *signals.Window) {
			got = append(got, time.Duration(v.Start-began.UnixNano()), time.Duration(v.End-began.UnixNano()))
		}}
		w.add("go", []platform.Replica{replica}, experiment.Limits{})
		for range 6 {
			w.read()
		}
		if d := cmp.Diff([]time.Duration{200 * time.Millisecond, 500 * time.Millisecond}, got); d != "" {
			t.Errorf("set by %v: the window %s", ahead, d)
		}
	}
}
