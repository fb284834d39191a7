package narrative

import (
	"testing"

	"github.com/millicore/millicore/internal/display"
)

func TestHostFactsShowWhatIsThere(t *testing.T) {
	type unknownHost struct {
		OS       string            `json:"os"`
		CPUs     int               `json:"cpus"`
		Memory   *int64            `json:"memory_bytes"`
		HZ       *int              `json:"hz"`
		Governor string            `json:"cpu_governor"`
		Runtimes map[string]string `json:"runtimes"`
	}
	got := display.List(HostFacts(unknownHost{OS: "linux", CPUs: 2, Governor: "performance", Runtimes: map[string]string{"go": "go1.26.8", "bun": "1.4.5"}}))
	want := "linux, 2 CPUs, cpu governor performance, bun 1.4.5 and go 1.26.8"
	if got != want {
		t.Errorf("host facts: %s\nwant: %s", got, want)
	}
	for _, nothing := range []any{nil, "text", 3, []int{1}, func() {}} {
		if facts := HostFacts(nothing); facts != nil {
			t.Errorf("hostFacts(%T) = %v, want nothing", nothing, facts)
		}
	}
}
