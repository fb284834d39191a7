package vm

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/millicore/millicore/test/chaos"
)

// attemptLimit bounds an attempt of a campaign in the emulated machine.
const attemptLimit = 5 * time.Minute

// mostHangs is how often a machine of a campaign may hang.
const mostHangs = 4

// TestCampaign runs attempts of package chaos in the machine, with cgroup v2, where the
// clock may be stepped.
func TestCampaign(t *testing.T) {
	n, first := chaos.Size(t, 0, 19)
	m, err := prepare(cacheFolder(t))
	if errors.Is(err, errMissing) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var a archive
	a.made(t, "init", ".", "build", small, module+"test/vm/init")
	a.made(t, "tests/chaos", ".", "test", "-c", small, module+"test/chaos")
	for name, pkg := range map[string]string{"millicore": "cmd/millicore", "millicore-agent": "cmd/millicore-agent", "server": "test/server"} {
		a.made(t, "chaos/"+name, ".", "build", small, module+pkg)
	}
	initramfs := a.written(t)
	var results []chaos.Result
	for hung := 0; len(results) < n; {
		rest := n - len(results)
		layout := fmt.Sprintf("campaign seed=%d runs=%d", first+uint64(len(results)), rest)
		console, err := m.bootFor(t.Context(), bootLimit+time.Duration(rest)*attemptLimit, layout, initramfs)
		got, readErr := chaos.Results(plain(string(console)))
		results = append(results, got...)
		t.Logf("%s", plain(string(console)))
		if err == nil && readErr == nil && len(got) > 0 {
			continue
		}
		// The machine hung. What it had not done is done by the next one.
		if hung++; !errors.Is(err, errSilent) || hung > mostHangs {
			t.Fatalf("the machine ended: %v", errors.Join(err, readErr))
		}
	}
	for _, r := range results {
		if r.Failed {
			t.Errorf("%v failed; repeat it with: %s", &r.Plan, r.Repeat())
		}
	}
	t.Logf("seeds %d to %d:\n%s", first, first+uint64(n)-1, chaos.Table(results))
}
