package lab

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// Node.js loads a script from the record and writes its profile there, which another user
// cannot do: it would not start.
func TestWhichServicesAreProfiled(t *testing.T) {
	for _, c := range []struct {
		name    string
		runtime runtimes.Name
		user    string
		why     string // a part of it; "": it is profiled
	}{
		{"Go", runtimes.Go, "", ""},
		{"Go as another user", runtimes.Go, "shop", ""},
		{"Node.js", runtimes.Node, "", ""},
		{"Node.js as the caller", runtimes.Node, experiment.Caller, ""},
		{"Node.js as another user", runtimes.Node, "shop", "set services.shop.user to caller"},
		{"another runtime", runtimes.JVM, "", "for Go and Node.js"},
	} {
		t.Run(c.name, func(t *testing.T) {
			load := experiment.Load{Users: &experiment.Target{Value: 1}}
			l := &Lab{Experiment: &experiment.Experiment{Cells: []experiment.Cell{{Service: experiment.Service{Name: "shop", User: c.user}, Load: load}}},
				runtimes: map[int]runtimes.Info{0: {Runtime: c.runtime}}}
			_, _, why := l.profiled(0)
			if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
				t.Errorf("%q, want %q", why, c.why)
			}
		})
	}
}
