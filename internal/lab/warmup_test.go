package lab

import (
	"context"
	"testing"

	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform"
)

// warming is a platform that warms up what it starts.
type warming struct{ *fake }

func (w warming) Start(ctx context.Context, u platform.UnitSpec) (platform.Unit, error) {
	_, err := w.fake.Start(ctx, u)
	return warmed{}, err
}

type warmed struct{ fakeReplica }

func (w warmed) Replicas() []platform.Replica { return []platform.Replica{w.fakeReplica} }
func (warmed) WarmUps() []signals.WarmUp {
	return []signals.WarmUp{{Seconds: 4, Requests: 800, CPUPerRequest: []float64{0.004, 0.001}, Steady: true}}
}

func TestARecordHasTheWarmUps(t *testing.T) {
	inBubble(func(t *testing.T) {
		l, f, _ := testLab(t, shortExperiment, func(int, int) fakeLife { return fakeLife{} })
		l.Platform = warming{f}
		if err := l.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		done := 0
		for _, trial := range openRecord(t, l.Dir).Trials {
			if trial.Outcome != record.Done {
				continue
			}
			if done++; len(trial.WarmUps) != 1 || trial.WarmUps[0].Requests != 800 || !trial.WarmUps[0].Steady {
				t.Errorf("trial %d: %+v, want the warm-up of its replica", trial.Trial, trial.WarmUps)
			}
		}
		if done != 2 {
			t.Errorf("%d trials are done, want 2", done)
		}
	})(t)
}
