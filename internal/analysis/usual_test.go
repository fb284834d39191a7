package analysis

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/signals"
)

// The late requests of one kind that sleeps are there for as long as that kind takes, not for as long
// as the median request of all.
func TestHowLongALateRequestTakesAnyway(t *testing.T) {
	all := sums.New()
	all.Client.Kinds = map[string]*signals.Kind{}
	for name, took := range map[string]time.Duration{"light": 2 * time.Millisecond, "slow": 57 * time.Millisecond} {
		k := &signals.Kind{Latency: signals.NewHistogram()}
		k.Latency.Record(took)
		all.Client.Kinds[name] = k
	}
	for range 10 {
		all.Client.Service.Record(2 * time.Millisecond)
	}
	for kind, want := range map[string]time.Duration{"": 2 * time.Millisecond, "slow": 57 * time.Millisecond} {
		if got := usual(&summary.BreakingPoint{FirstKind: kind}, all); got.Round(time.Millisecond) != want {
			t.Errorf("of kind %q: %v, want %v", kind, got, want)
		}
	}
}
