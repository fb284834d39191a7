package live

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// The frames have the times of the load's begin. When the machine's clock is set during the
// run, the wall time changes, and the time between two looks does not.
func TestAStepOfTheClockDoesNotChangeHowLongTheLoadRan(t *testing.T) {
	now := time.Now()
	s := New(plan())
	f := second(0, signals.Measure, signals.Client{Users: 1})
	f.Start = now.Add(-3 * time.Second).UnixNano()
	s.Add(f)
	if got := s.Begun(now); got != 3*time.Second {
		t.Errorf("first %v", got)
	}
	s.began += int64(time.Hour) // as if the clock had been set back
	if got := s.Begun(now.Add(2 * time.Second)); got != 5*time.Second {
		t.Errorf("then %v, want 5s", got)
	}
}
