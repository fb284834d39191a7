package proc

import (
	"testing"
	"time"
)

func TestParseSchedstat(t *testing.T) {
	got, err := ParseSchedstat([]byte("1234567 89012 34\n"))
	if want := (Schedstat{1234567, 89012, 34}); err != nil || got != want {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	for _, text := range []string{"", "1 2\n", "1 2 3 4\n", "a 2 3\n", "-1 2 3\n"} {
		if got, err := ParseSchedstat([]byte(text)); err == nil {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

func TestParseCPUTimes(t *testing.T) {
	got, err := ParseCPUTimes([]byte("cpu  10 0 10 60 0 0 0 20 5 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n"))
	if want := (CPUTimes{Total: time.Second, Steal: 200 * time.Millisecond, Idle: 600 * time.Millisecond}); err != nil || got != want {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	for _, text := range []string{"", "cpu0 1 2 3 4 5 6 7 8\n", "cpu 1 2 3\n", "cpu 1 2 3 4 5 6 7 x\n"} {
		if got, err := ParseCPUTimes([]byte(text)); err == nil {
			t.Errorf("%q: got %v", text, got)
		}
	}
}
