package objective

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// A kind misses an objective, or keeps within it, by its late and by its failed requests. Of few
// requests neither is shown.
func TestKindsAgainstTheObjective(t *testing.T) {
	both := Goal{Objective: &experiment.Objective{Quantile: "p99", Latency: 100 * time.Millisecond, Availability: 99.9}}
	served := Goal{Objective: &experiment.Objective{Availability: 99.9}}
	for _, c := range []struct {
		name                  string
		goal                  Goal
		fast, late, failed    int
		misses, within, holds bool
	}{
		{"fast", both, 10000, 0, 0, false, true, true},
		{"few", both, 100, 0, 0, false, false, true},
		{"late", both, 9000, 1000, 0, true, false, false},
		{"late, and no latency is asked for", served, 9000, 1000, 0, false, true, true},
		{"close", both, 9905, 95, 0, false, false, true},
		{"failed", both, 9900, 0, 100, true, false, false},
		{"more failed", both, 9800, 0, 200, true, false, false},
		{"none", both, 0, 0, 0, false, false, false},
	} {
		k := &signals.Kind{Ended: int64(c.fast + c.late + c.failed), Good: int64(c.fast + c.late), Latency: signals.NewHistogram()}
		for range c.fast {
			k.Latency.Record(10 * time.Millisecond)
		}
		for range c.late {
			k.Latency.Record(time.Second)
		}
		if got := c.goal.misses(k); got != c.misses {
			t.Errorf("%s: misses it: %v", c.name, got)
		}
		if got := c.goal.within(k, 0.5); got != c.within {
			t.Errorf("%s: clearly within it: %v", c.name, got)
		}
		if got := c.goal.within(k, 1); got != c.holds {
			t.Errorf("%s: within it: %v", c.name, got)
		}
	}
}

// A kind breaks first if it alone misses the objective, and met it before.
func TestTheKindThatBreaksFirst(t *testing.T) {
	goal := Goal{Objective: &experiment.Objective{Quantile: "p99", Latency: 100 * time.Millisecond}}
	total := func(late ...int) *sums.Total { // of 1,000 requests of each kind
		all := sums.New()
		all.Client.Kinds = map[string]*signals.Kind{}
		for i, n := range late {
			k := &signals.Kind{Ended: 1000, Good: 1000, Latency: signals.NewHistogram()}
			for at := range 1000 {
				took := time.Millisecond
				if at < n {
					took = time.Second
				}
				k.Latency.Record(took)
			}
			all.Client.Kinds[string(rune('a'+i))] = k
		}
		return all
	}
	for _, c := range []struct {
		name        string
		missed, met *sums.Total
		want        string
	}{
		{"one", total(0, 100, 0), total(0, 5, 0), "b"},
		{"all, of a queue", total(90, 100, 80), total(0, 5, 0), ""},
		{"one, and another may", total(0, 100, 9), total(0, 5, 0), ""},
		{"one that missed it before, too", total(0, 100, 0), total(0, 50, 0), ""},
		{"none", total(0, 9, 0), total(0, 5, 0), ""},
		{"no kinds", sums.New(), sums.New(), ""},
	} {
		if got := goal.FirstKind(c.missed, c.met); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
