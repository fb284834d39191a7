package search

import (
	"cmp"
	"math"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/test/testkit"
)

// What was answered above the capacity is the capacity. The first row is of a server in
// Node.js under 500m whose requests take 0.15 us more after each.
func TestWhatFullWindowsShow(t *testing.T) {
	at := func(rates ...float64) (all fullWindows) {
		for i := 0; i < len(rates); i += 2 {
			all = append(all, fullWindow{float64(i), rates[i], rates[i+1]})
		}
		return all
	}
	for name, c := range map[string]struct {
		seen fullWindows
		want finding.Kind
	}{
		"a leak":                                 {at(800, 365, 487, 350, 434, 325, 364, 299, 343, 280, 343, 245), finding.CapacityFell},
		"a warm-up, at loads that rise":          {at(100, 60, 200, 90, 400, 150, 500, 200, 600, 230), finding.CapacityRose},
		"less, the more it is asked":             {at(800, 100, 487, 150, 434, 180, 364, 220, 343, 260, 300, 270), finding.None},
		"a steady service":                       {at(800, 365, 487, 370, 434, 362, 364, 371, 343, 366, 343, 368), finding.None},
		"too little for starts of one to differ": {at(800, 365, 487, 350, 434, 345, 420, 340, 410, 330, 400, 320), finding.None},
		"too few windows":                        {at(800, 365, 487, 300, 434, 250, 364, 200), finding.None},
	} {
		if got := c.seen.trend(60); got.Kind != c.want {
			t.Errorf("%s: %+v, want kind %v", name, got, c.want)
		}
	}
	if got := at(800, 365, 487, 350, 434, 325, 364, 299, 343, 280, 343, 245).trend(60); got.Load != 350 || got.Other != 245 || got.Seconds != 60 {
		t.Errorf("%+v, want from 350 to 245 in 60 s", got)
	}
}

// A service that stands still now and then has no breaking point at the load of one stop. An
// overload without one shows that, and meets the objective far above the answer. Of 56 searches
// of 40 s it refutes 26 answers, and leaves 13.
func TestAnAnswerThatAnOverloadRefutes(t *testing.T) {
	n := cmp.Or(*runs, testkit.Samples(1, 2, 4))
	refuted, answers := 0, 0
	short := func(c *Config) { c.Budget, c.After = 40*time.Second, time.Minute }
	for phase := 0.0; phase < 7; phase += .5 {
		k := changing("stops", func(at, _ float64) float64 { return .001 + max(0, .3-math.Mod(at+phase, 7)) }, 1, .1)
		for _, r := range k.searched(n, short) {
			switch {
			case r.Load > 0:
				answers++
			case r.Ended == Uneven:
				if refuted++; r.Why.Kind != finding.MetFarAbove || r.Why.Other <= r.Why.Load {
					t.Errorf("%+v", r)
				}
			}
		}
	}
	t.Logf("refuted %d, answers %d of %d", refuted, answers, 14*n)
	if 4*refuted < 14*n || 3*answers > 14*n {
		t.Errorf("of %d searches %d are refuted, and %d have an answer", 14*n, refuted, answers)
	}
	for _, k := range kinds {
		for _, r := range k.searched(n, short) {
			if r.Ended == Uneven {
				t.Errorf("%s is steady, and refuted: %+v", k.name, r)
			}
		}
	}
}

// A few requests of a slow service are in time at any load that lasts less than the objective's
// latency: 3 requests/s of 3.9 keep the last one waiting for 1.8 s after 6 s.
func TestWhatLastsTooShortlyRefutesNothing(t *testing.T) {
	for _, c := range []struct {
		high, late, seconds, requests float64
		want                          bool
	}{
		{3, 2, 6, 23, false},
		{3, 2, 60, 232, false}, // 1.24 of what it can answer
		{3, 2, 60, 233, true},
		{150, 0.1, 2, 550, true},
		{150, 0.1, 2, 390, false},
	} {
		s := &Search{config: Config{Late: time.Duration(c.late * 1e9), Block: time.Second}, result: Result{High: c.high}}
		if got := s.farAbove(window{n: c.requests, blocks: int(c.seconds)}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
