package narrative

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/record"
)

func TestHostFactsShowWhatIsThere(t *testing.T) {
	got := phrase.List(HostFacts(record.Host{OS: "linux", CPUs: 2, Runtimes: map[string]string{"go": "go1.26.8", "bun": "1.4.5"}}))
	want := "linux, 2 CPUs, bun 1.4.5 and go 1.26.8"
	if got != want {
		t.Errorf("host facts: %s\nwant: %s", got, want)
	}
	if facts := HostFacts(record.Host{}); facts != nil {
		t.Errorf("facts of an unknown host: %v, want none", facts)
	}
}

func TestTheSetupNamesTheLimits(t *testing.T) {
	limited := func(millis ...int64) *summary.Summary {
		s := &summary.Summary{}
		for i := range millis {
			c := cellOf("go")
			if millis[i] > 0 {
				c.Limits.CPUMillis = &millis[i]
			}
			s.Cells = append(s.Cells, c)
		}
		return s
	}
	const load = " · closed loop, 50 users"
	for want, s := range map[string]*summary.Summary{
		"limit 1 CPU":                           limited(1000, 1000),
		"compared: limit 500m CPU; limit 1 CPU": limited(500, 1000, 500),
		"compared: limit 1 CPU; no limits":      limited(1000, 0),
		"compared: 7 limits":                    limited(100, 200, 300, 400, 500, 600, 700),
	} {
		if got := strings.Join(SetupFacts(s), " · "); got != want+load {
			t.Errorf("%q, want %q", got, want+load)
		}
	}
}
