package span

import (
	"testing"
	"time"
)

func TestTextAndParse(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 250 * time.Millisecond: "250ms", 1500 * time.Millisecond: "1.5s", 10 * time.Second: "10s", time.Minute: "1m",
		90 * time.Second: "1m30s", 2 * time.Hour: "2h", 90 * time.Minute: "1h30m", time.Hour + 5*time.Second: "1h0m5s", -2 * time.Minute: "-2m",
		20 * time.Second: "20s", 10 * time.Minute: "10m", 10 * time.Hour: "10h", 150 * time.Microsecond: "150µs",
	} {
		if got := Text(d); got != want {
			t.Errorf("Text(%v) = %q, want %q", d, got, want)
		}
		if got, err := Parse(want); got != d || err != nil {
			t.Errorf("Parse(%q) = %v, %v, want %v", want, got, err, d)
		}
	}
}

func TestANumberAloneIsInSeconds(t *testing.T) {
	for text, want := range map[string]time.Duration{"5": 5 * time.Second, "1.5": 1500 * time.Millisecond, "-1": -time.Second} {
		if got, err := Parse(text); got != want || err != nil {
			t.Errorf("Parse(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "uration", "5x", "1e300", "NaN"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", text, got)
		}
	}
}
