package proc

import (
	"testing"
	"time"
)

func TestParseUptime(t *testing.T) {
	for text, want := range map[string]time.Duration{"350735.5 234388.90\n": 350735*time.Second + 500*time.Millisecond, "": 0, "x 1": 0, "-1 0": 0, "NaN 0": 0, "1e99 0": 0} {
		if got := ParseUptime([]byte(text)); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
