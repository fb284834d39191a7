package inspect

import (
	"testing"
	"time"
)

func TestParseUptime(t *testing.T) {
	for text, want := range map[string]time.Duration{"350735.5 234388.90\n": 350735*time.Second + 500*time.Millisecond, "": 0, "x 1": 0, "-1 0": 0, "NaN 0": 0, "1e99 0": 0} {
		if got := parseUptime([]byte(text)); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// FuzzProc passes arbitrary bytes to the parsers of /proc.
func FuzzProc(f *testing.F) {
	f.Add([]byte("0::/system.slice/docker-" + dockerID + ".scope\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if in := (containers{}).of(string(text)); in.id != "" && in.name != in.id[:12] {
			t.Errorf("%q: %+v", text, in)
		}
		relevant(text)
	})
}
