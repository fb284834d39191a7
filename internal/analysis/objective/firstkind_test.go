package objective

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// mixed are requests of kinds of which some are late, and some fail.
type mixed map[string]struct{ all, late, failed int }

func (m mixed) total() *sums.Total {
	all := sums.New()
	all.Client.Kinds = map[string]*signals.Kind{}
	for name, c := range m {
		k := &signals.Kind{Ended: int64(c.all), Good: int64(c.all - c.failed), Latency: signals.NewHistogram()}
		for i := range c.all - c.failed {
			took := 5 * time.Millisecond
			if i < c.late {
				took = 95 * time.Millisecond
			}
			k.Latency.Record(took)
		}
		all.Client.Kinds[name] = k
		all.Client.Good += k.Good
		all.Client.Errors.Failed += int64(c.failed)
		all.Client.Latency.Merge(k.Latency)
	}
	return all
}

// The kind that breaks first has almost all of the late requests, or of the failed ones, at the
// lowest loads that have enough of them. In a pause, and in a queue, each kind has its share.
func TestTheKindThatBreaksFirst(t *testing.T) {
	both := Goal{Objective: &experiment.Objective{Quantile: "p99", Latency: 80 * time.Millisecond, Availability: 99.9}}
	served := Goal{Objective: &experiment.Objective{Availability: 99.9}}
	overload := mixed{"light": {900, 700, 0}, "slow": {100, 100, 0}}
	for _, c := range []struct {
		name   string
		goal   Goal
		levels []mixed
		want   string
		share  float64
	}{
		{"slow alone, though the total still meets it", both, []mixed{{"light": {3245, 0, 0}, "slow": {334, 21, 0}}}, "slow", 1},
		{"slow alone, before an overload delays all", both, []mixed{{"light": {3245, 0, 0}, "slow": {334, 21, 0}}, overload}, "slow", 1},
		{"slow alone, with enough late requests at two loads together", both, []mixed{{"light": {900, 0, 0}, "slow": {100, 3, 0}}, {"light": {900, 1, 0}, "slow": {100, 27, 0}}, overload}, "slow", 30.0 / 31},
		{"all requests of one kind wait for a dependency", both, []mixed{{"light": {900, 0, 0}, "slow": {100, 100, 0}}}, "slow", 1},
		{"a pause of the service, in proportion", both, []mixed{{"light": {900, 18, 0}, "slow": {100, 2, 0}}}, "", 0},
		{"a pause that by chance has one kind more often", both, []mixed{{"light": {900, 14, 0}, "slow": {100, 6, 0}}}, "", 0},
		{"a queue that delays all", both, []mixed{{"light": {900, 0, 0}, "slow": {100, 0, 0}}, overload}, "", 0},
		{"nearly all requests are of the late kind", both, []mixed{{"light": {100, 0, 0}, "slow": {2900, 40, 0}}}, "", 0},
		{"two kinds are late", both, []mixed{{"light": {9000, 0, 0}, "slow": {500, 60, 0}, "slower": {500, 40, 0}}}, "", 0},
		{"one of two slow kinds", both, []mixed{{"light": {9000, 0, 0}, "slow": {500, 2, 0}, "slower": {500, 60, 0}}}, "slower", 60.0 / 62},
		{"too few of the others to say", both, []mixed{{"light": {200, 0, 0}, "slow": {100, 20, 0}}}, "", 0},
		{"too few late ones", both, []mixed{{"light": {500, 0, 0}, "slow": {50, 4, 0}}}, "", 0},
		{"far fewer late ones than are allowed", both, []mixed{{"light": {9000, 0, 0}, "slow": {1000, 20, 0}}}, "", 0},
		{"one fails", served, []mixed{{"light": {9000, 0, 0}, "slow": {1000, 0, 30}}}, "slow", 1},
		{"one fails, long before requests are late", both, []mixed{{"light": {9000, 0, 0}, "slow": {1000, 0, 8}}}, "slow", 1},
		{"all fail", served, []mixed{{"light": {9000, 0, 27}, "slow": {1000, 0, 3}}}, "", 0},
		{"one kind", both, []mixed{{"slow": {1000, 40, 0}}}, "", 0},
		{"no requests", both, []mixed{{}}, "", 0},
		{"no loads", both, nil, "", 0},
	} {
		var levels []*sums.Total
		for _, m := range c.levels {
			levels = append(levels, m.total())
		}
		if got, share := c.goal.FirstKind(levels); got != c.want || share != c.share {
			t.Errorf("%s: %q with %.3f, want %q with %.3f", c.name, got, share, c.want, c.share)
		}
	}
}
