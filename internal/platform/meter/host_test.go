package meter

import (
	"runtime"
	"testing"
	"time"
)

func TestParseHost(t *testing.T) {
	text := "cpu  100 5 50 1000 20 0 7 30 0 0\ncpu0 50 2 25 500 10 0 4 15 0 0\ncpu1 50 3 25 500 10 0 3 15 0 0\nintr 12345 0\nctxt 99\n"
	at := time.Unix(1, 0)
	got, err := ParseHost([]byte(text), at)
	want := HostTimes{At: at, CPUs: 2, Idle: 10.2, Steal: 0.3}
	if err != nil || got != want {
		t.Errorf("got %+v (%v), want %+v", got, err, want)
	}
	for name, text := range map[string]string{"empty": "", "too short": "cpu 1 2 3\n", "not a number": "cpu a b c d e f g h i\ncpu0\n"} {
		if _, err := ParseHost([]byte(text), at); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzParseHost(f *testing.F) {
	f.Add([]byte("cpu  100 5 50 1000 20 0 7 30 0 0\ncpu0 50 2 25 500 10 0 4 15 0 0\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := ParseHost(text, time.Time{})
		if err == nil && (h.CPUs < 1 || h.Idle < 0 || h.Steal < 0) {
			t.Errorf("%+v", h)
		}
	})
}

func TestReadHostOnThisMachine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("/proc/stat is Linux's")
	}
	h, err := ReadHost()
	if err != nil || h.CPUs < 1 || h.Idle <= 0 {
		t.Errorf("read %+v, %v", h, err)
	}
}
