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

// TestCampaign runs attempts of package chaos in the machine, with cgroup v2, where the
// clock may be stepped.
func TestCampaign(t *testing.T) {
	n, first := chaos.Size(t, 0, 48)
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
	layout := fmt.Sprintf("campaign seed=%d runs=%d", first, n)
	console, err := m.bootFor(t.Context(), bootLimit+time.Duration(n)*attemptLimit, layout, a.written(t))
	all, outside, done := sections(console)
	if err != nil || outside != "" || !done || len(all) != 1 {
		t.Fatalf("the machine ended (done: %v, %v):\n%s", done, err, plain(string(console)))
	}
	t.Logf("%s", plain(string(all[0].output)))
	t.Run(all[0].program, all[0].replay)
}
