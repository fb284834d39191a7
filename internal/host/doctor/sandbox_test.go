package doctor

import (
	"slices"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/host/inspect"
)

// The limit of a pod is used up by its containers. The process that holds its namespaces is the
// only one in the pod's own group, and no service; a container may run a program of that name.
func TestASandboxIsNoService(t *testing.T) {
	used := 2 * time.Second
	c := inspect.Counts{Length: 10 * time.Second, Periods: 100, Throttled: 100, Stopped: time.Second, Used: &used}
	p := inspect.Process{PID: 7, Name: "pause", Pod: "uid",
		CPU:        inspect.CPULimit{State: inspect.Limited, CPUs: 0.2, Period: 100 * time.Millisecond, Group: "/pod/a", SetBy: "/pod", Dir: "/c/pod"},
		Throttling: &inspect.Throttling{Since: c, Watch: &c}}
	host := inspect.Host{Online: 2, Watched: 10 * time.Second, Processes: []inspect.Process{p}}
	if got := Examine(host); len(got) != 0 {
		t.Errorf("got %d findings: %s", len(got), got[0].Title)
	}
	// Nor is the limit of the pod one that its only container shares.
	app := p
	app.PID, app.Name, app.PodContainer = 8, "api", "api"
	app.CPU.SetBy, app.CPU.Dir = "/pod/b", "/c/pod/b"
	app.Shared = []inspect.Shared{{CPU: p.CPU, Throttling: p.Throttling}}
	host.Processes = []inspect.Process{p, app}
	for _, f := range Examine(host) {
		if f.PID != 8 || f.Rule == SharedLimit {
			t.Errorf("got %s about %d", f.Rule, f.PID)
		}
	}
	app.CPU.CPUs = 0.1
	host.Processes[1] = app
	if got := Examine(host); !slices.ContainsFunc(got, func(f Finding) bool { return f.Rule == SharedLimit }) {
		t.Error("a lower limit below the pod's, and nothing about the pod's")
	}
	host.Processes = []inspect.Process{p}
	host.Processes[0].PodContainer = "pause"
	if got := Examine(host); len(got) == 0 || got[0].Rule != LimitUsedUp {
		t.Errorf("got %v, want that the limit is used up", got)
	}
}
