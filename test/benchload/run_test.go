package main

import (
	"testing"
	"time"
)

// The first case is the one whose truth others have published: 1, 509 and 903 ms.
func TestTheTruthOfTheFirstFreeze(t *testing.T) {
	got := freezes[0].truth()
	if got.P50 != time.Millisecond || got.P95.Round(time.Millisecond) != 509*time.Millisecond || got.P99.Round(time.Millisecond) != 903*time.Millisecond {
		t.Errorf("%+v", got)
	}
}

// Each freeze, and the requests that it delayed, end before the run does, and determine
// the p99, so that a tool with coordinated omission is detected.
func TestFreezesAreWorthTheirRun(t *testing.T) {
	for _, c := range freezes {
		if last := time.Duration(c.seconds())*time.Second - c.Service.Period/2; last < c.Service.Still {
			t.Errorf("%s: the last freeze ends only %v before the run does", c.Name, last)
		}
		if p99 := c.truth().P99; p99 < c.Service.Still/2 {
			t.Errorf("%s: the p99 is %v, of freezes of %v", c.Name, p99, c.Service.Still)
		}
	}
}

func TestVerdict(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		reported, true time.Duration
		want           bool
	}{
		"exact":                    {900 * ms, 900 * ms, true},
		"within 5%":                {940 * ms, 900 * ms, true},
		"beyond 5%":                {950 * ms, 900 * ms, false},
		"a little, of little":      {12 * ms, 8 * ms, true},
		"too much, of little":      {14 * ms, 8 * ms, false},
		"nothing seen of a freeze": {4 * ms, 900 * ms, false},
	} {
		if got := accurate(c.reported, c.true); got != c.want {
			t.Errorf("%s: %v reported of %v is accurate: %v", name, c.reported, c.true, got)
		}
	}
}

// Answers after the load's end do not count in the rate.
func TestRateWithinTheTime(t *testing.T) {
	r := run{Load: load{Seconds: 10, Rate: 1000}, report: report{Good: 10_000, Drained: 2500}}
	if got := rate(&r); got != 750 {
		t.Errorf("%v/s; want 750", got)
	}
	if got := achieved(&r); got != 0.75 {
		t.Errorf("%v of the schedule; want 0.75", got)
	}
}
