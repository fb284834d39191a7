package pods

import (
	"testing"
	"time"

	"github.com/millicore/millicore/test/testkit"
)

// A replica is down while the conductor's clock is set.
func TestTheClockIsSetDuringADownWindow(t *testing.T) {
	for _, ahead := range []time.Duration{-time.Hour, time.Hour} {
		since := time.Now()
		v := downWindow(since, testkit.AfterClockSet(t, since.Add(3*time.Second), ahead))
		if v.Start != since.UnixNano() || v.End-v.Start != int64(3*time.Second) {
			t.Errorf("set by %v: a window of %v, want 3s", ahead, time.Duration(v.End-v.Start))
		}
	}
}
