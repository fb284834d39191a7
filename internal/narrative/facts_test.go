package narrative

import (
	"testing"

	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/record"
)

func TestHostFactsShowWhatIsThere(t *testing.T) {
	got := display.List(HostFacts(record.Host{OS: "linux", CPUs: 2, Runtimes: map[string]string{"go": "go1.26.8", "bun": "1.4.5"}}))
	want := "linux, 2 CPUs, bun 1.4.5 and go 1.26.8"
	if got != want {
		t.Errorf("host facts: %s\nwant: %s", got, want)
	}
	if facts := HostFacts(record.Host{}); facts != nil {
		t.Errorf("facts of an unknown host: %v, want none", facts)
	}
}
