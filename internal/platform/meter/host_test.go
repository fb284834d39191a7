package meter

import (
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/signals"
)

func TestParseHost(t *testing.T) {
	text := "cpu  100 5 50 1000 20 0 7 30 0 0\ncpu0 50 2 25 500 10 0 4 15 0 0\ncpu1 50 3 25 500 10 0 3 15 0 0\nintr 12345 0\nctxt 99\n"
	at := time.Unix(1, 0)
	got, err := ParseHost([]byte(text), at)
	want := HostTimes{At: at, CPUs: 2, Idle: 10.2, Steal: 0.3, SoftIRQ: 0.07}
	if err != nil || got != want {
		t.Errorf("got %+v (%v), want %+v", got, err, want)
	}
	for name, text := range map[string]string{"empty": "", "too short": "cpu 1 2 3\n", "not a number": "cpu a b c d e f g h i\ncpu0\n"} {
		if _, err := ParseHost([]byte(text), at); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestHostHalfCallsForeignWhatNobodyHereUsed(t *testing.T) {
	t0 := time.Unix(100, 0)
	before := HostTimes{At: t0, CPUs: 2, Idle: 10}
	after := HostTimes{At: t0.Add(2 * time.Second), CPUs: 2, Idle: 11, Steal: 0.2} // 2.8 s busy of 4
	got := HostHalf(before, after, Used{Services: 1.6, Agents: 0.4, Lab: 0.2})
	want := signals.Host{CPUs: 2, Idle: 0.5, Steal: 0.1, Busy: 1.4, Services: 0.8, Agents: 0.2, Lab: 0.1, Foreign: 0.3}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })); d != "" {
		t.Error(d)
	}
}

// Traffic's softirq time is in no control group where the kernel measures it. Without that
// it would count as the CPU of other processes, and disturb every trial at a high rate.
func TestTimeInInterruptsIsNotForeign(t *testing.T) {
	t0 := time.Unix(100, 0)
	before := HostTimes{At: t0, CPUs: 2, Idle: 10, IRQ: 1, SoftIRQ: 5}
	after := HostTimes{At: t0.Add(2 * time.Second), CPUs: 2, Idle: 11, IRQ: 1.1, SoftIRQ: 5.7} // 3 s busy of 4
	used := Used{Services: 1.6, Agents: 0.4, Lab: 0.2}
	close := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })
	want := signals.Host{CPUs: 2, Idle: 0.5, Busy: 1.5, Services: 0.8, Agents: 0.2, Lab: 0.1, Interrupts: 0.4}
	if d := cmp.Diff(want, HostHalf(before, after, used), close); d != "" {
		t.Error(d)
	}
	// This kernel counts softirq time as that of the interrupted process, which used has.
	before.IRQ, after.IRQ = 0, 0
	want.Interrupts, want.Foreign = 0, 0.4
	if d := cmp.Diff(want, HostHalf(before, after, used), close); d != "" {
		t.Error(d)
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
