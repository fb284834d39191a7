package report

import (
	"testing"

	"github.com/millicore/millicore/internal/display"
)

func TestPercentNeverRoundsUpToAll(t *testing.T) {
	for v, want := range map[float64]string{
		100: "100%", 99.99999: "99.999%", 99.95: "99.95%", 99.9: "99.9%", 99: "99%", 55.43: "55.4%", 0: "0%", 0.04: "0%", 12: "12%",
	} {
		if got := percent(v); got != want {
			t.Errorf("percent(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestShareDoesNotSayNothingOrAllForWhatComesNear(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0%", 0.0004: "<0.1%", 0.004: "0.4%", 0.0382: "3.8%", 0.05: "5%", 0.0999: "10%", 0.906: "91%", 0.985: "98%", 0.999: ">99%", 1: "100%", 1.04: "104%",
	} {
		if got := share(v); got != want {
			t.Errorf("share(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestSizeChoosesItsUnit(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0 B", 512: "512 B", 1536: "1.50 KiB", 256 << 20: "256 MiB", 19084083: "18.2 MiB", 8 << 30: "8 GiB", 1.5 * (1 << 40): "1.50 TiB",
	} {
		if got := size(v); got != want {
			t.Errorf("size(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestAlignedPutsDecimalPointsUnderOneAnother(t *testing.T) {
	got := aligned([]string{"130", "78.0", "0.190", display.Absent})
	want := []string{"130    ", "78.0  ", "0.190", display.Absent + "    "}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("aligned[%d] = %q, want %q", i, got[i], want[i])
		}
	}
}

func TestSnakeNamesColumns(t *testing.T) {
	for in, want := range map[string]string{"procs": "procs", "maxProcs": "max_procs", "GOMAXPROCS": "gomaxprocs", "cpu-limit": "cpu_limit", "a.b": "a_b"} {
		if got := snake(in); got != want {
			t.Errorf("snake(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestHostFactsShowWhatIsThere(t *testing.T) {
	type unknownHost struct {
		OS       string            `json:"os"`
		CPUs     int               `json:"cpus"`
		Memory   *int64            `json:"memory_bytes"`
		HZ       *int              `json:"hz"`
		Governor string            `json:"cpu_governor"`
		Runtimes map[string]string `json:"runtimes"`
	}
	got := list(hostFacts(unknownHost{OS: "linux", CPUs: 2, Governor: "performance", Runtimes: map[string]string{"go": "go1.26.8", "bun": "1.4.5"}}))
	want := "linux, 2 CPUs, cpu governor performance, bun 1.4.5 and go 1.26.8"
	if got != want {
		t.Errorf("host facts: %s\nwant: %s", got, want)
	}
	for _, nothing := range []any{nil, "text", 3, []int{1}, func() {}} {
		if facts := hostFacts(nothing); facts != nil {
			t.Errorf("hostFacts(%T) = %v, want nothing", nothing, facts)
		}
	}
}

func TestEveryFlagOfAnalysisIsExplained(t *testing.T) {
	for _, word := range []string{"skipped", "no_trials", "few_trials", "busy_neighbour", "busy_hypervisor", "cpu_stolen", "agent_waited", "low_idle", "incomplete_trial", "generator_limited",
		"restarted", "oom_killed", "requests_dropped", "few_periods_for_p999", "moving_load", "trial_failed"} {
		if flagTexts[word] == "" {
			t.Errorf("the flag %q has no explanation", word)
		}
	}
}

func TestMicrosecondsChooseTheirUnit(t *testing.T) {
	for v, want := range map[float64]string{0: "0 µs", 0.256: "0.256 µs", 183: "183 µs", 999.6: "1.00 ms", 4562: "4.56 ms", 1015294.6: "1.02 s"} {
		if got := microseconds(v); got != want {
			t.Errorf("microseconds(%v) = %q, want %q", v, got, want)
		}
	}
}
