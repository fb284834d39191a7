package program

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/test/testkit"
)

func TestASearchOfTwoReplicasWithTwoAgents(t *testing.T) {
	findsTheCapacity(t, "limits: {replicas: 2}", 2, 400)
}

func TestASearchOfAFailingServiceHasAReason(t *testing.T) {
	hurry(t)
	for _, c := range []struct {
		name, path, limits string
		short              bool // less traffic: the service must recover again and again
		found              bool // a breaking point may be found
		by                 []string
		reason             string
	}{
		{name: "always 500", path: "/status?code=500", by: []string{summary.ByErrors}},
		{name: "crashes under load", path: "/crash?above=20", found: true, by: []string{summary.ByErrors}},
		{name: "stops answering under load", path: "/hang?above=20", found: true, reason: "stopped answering"},
		{name: "is killed for memory again and again", path: "/keep?mb=4", limits: "limits: {memory: 64Mi}", short: true, found: true, by: []string{summary.ByMemory}},
		{name: "never answers", path: "/never", reason: "objective"},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			measure := brief
			if c.short {
				measure = strings.Replace(brief, "20s", "12s", 1)
			}
			got := search(t, `
name: fails
services: {server: {command: [SERVER, --port, "${port}"]}}
`+c.limits+`
load: {request: {path: "`+c.path+`"}, timeout: 500ms, find: breaking-point}`+measure, nil)
			b := got.Breaking
			if b.Load() != nil && !c.found {
				t.Errorf("it breaks at %v, though it never met the objective", *b.Load())
			}
			if b.Load() == nil && b.Reason == "" {
				t.Error("no breaking point, and no reason")
			}
			if undecided(b) { // a reason is a result too
				t.Skip(b.Reason)
			}
			// A search takes at most four times its traffic, and a last wait for a
			// service that died.
			if took := time.Since(began); took > 2*time.Minute {
				t.Errorf("it took %v", took)
			}
			// If other processes took CPU, a search discards windows, and may not find
			// the reason.
			unseen := t.Errorf
			if slices.Contains(got.Flags, "search_disturbed") {
				unseen = t.Skipf
			}
			if c.by != nil && !slices.Contains(c.by, b.LimitedBy) {
				unseen("limited by %q (%s), want %q; flags %v", b.LimitedBy, b.Evidence, c.by, got.Flags)
			}
			if !strings.Contains(b.Reason, c.reason) {
				unseen("reason %q, want %q in it; flags %v", b.Reason, c.reason, got.Flags)
			}
		})
	}
	t.Run("crashes at its start", func(t *testing.T) {
		needCgroups(t)
		_, c := command(t, `
name: fails
services: {server: {command: [SERVER, --port, "${port}", --fail]}}
load: {request: {path: /ok}, find: breaking-point}`+brief)
		out, err := c.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "no trial could be completed") {
			t.Errorf("%v:\n%s", err, out)
		}
		nothingLeft(t, c.Process.Pid)
	})
}

// A limited generator is not reported as the limit of the service, in an open loop (its
// requests are late) and in a closed loop (none is).
func TestAWeakGeneratorIsALowerBound(t *testing.T) {
	hurry(t)
	for _, load := range []string{"", ", users: 4"} {
		t.Run("request"+load, func(t *testing.T) {
			c := search(t, `
name: weak
services: {server: {command: [SERVER, --port, "${port}"]}}
load: {request: {path: /ok}, find: breaking-point`+load+`}`+strings.Replace(brief, "100ms", "50ms", 1), func(_ string, pid int) {
				testkit.Until(t, "the agent has a control group", func() bool { return agentGroup(pid) != "" })
				quota(t, agentGroup(pid), 5) // percent of a CPU: some thousand requests/s
			})
			b := c.Breaking
			if undecided(b) {
				t.Skip(b.Reason)
			}
			if !b.AtLeast && b.Load() != nil {
				t.Errorf("it breaks at %v, limited by %q: want a lower bound", *b.Load(), b.LimitedBy)
			}
			if b.LimitedBy != summary.ByGenerator {
				t.Errorf("limited by %q (%s), want the generator", b.LimitedBy, b.Evidence)
			}
		})
	}
}

// An agent that gets almost no CPU is distinguished from a service that does not answer.
func TestASilentAgentFailsItsTrial(t *testing.T) {
	hurry(t)
	needCgroups(t)
	dir, c := command(t, `
name: silent
services: {server: {command: [SERVER, --port, "${port}"]}}
load: {request: {path: /ok}, find: breaking-point}`+brief)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	testkit.Start(t, c)
	testkit.Until(t, "the first trial is measured", func() bool { return measured(dir, 1) > 0 })
	stopAgents(t, c.Process.Pid)
	if err := c.Wait(); err == nil || !strings.Contains(out.String(), "it sent nothing for") {
		t.Errorf("%v, want that the agent was silent:\n%s", err, &out)
	}
	nothingLeft(t, c.Process.Pid)
}

func TestANeighbourDuringASearchIsReported(t *testing.T) {
	c := search(t, `
name: neighbour
services: {server: {command: [SERVER, --port, "${port}"]}}
limits: {cpu: 500m}
load: {request: {path: "/spin?us=2000"}, find: breaking-point}`+brief, func(record string, _ int) {
		testkit.Until(t, "the third step has ended", func() bool {
			steps, _ := os.ReadFile(filepath.Join(record, "steps.ndjson"))
			return bytes.Count(steps, []byte("\n")) >= 3
		})
		hogs(t, 6*time.Second, 0, 1, 0)
	})
	b := c.Breaking
	if !slices.Contains(c.Flags, "search_disturbed") || !c.DisturbedBy(summary.Neighbours) {
		t.Errorf("flags %q, disturbed by %q: want search_disturbed, by neighbours", c.Flags, b.DisturbedBy)
	}
	// The effect of the neighbour is reported: discarded windows, or no result. If the
	// hypervisor took CPU too, the effect may be larger.
	if d := c.Disturbance; !strings.Contains(b.Reason, "other processes took CPU") && !c.DisturbedBy(summary.Hypervisor) && (d == nil || d.Disturbed == 0) {
		t.Errorf("%v, reason %q, %+v: want that other processes took CPU", b.Load(), b.Reason, d)
	}
}

// After a search the mix varies on purpose, which shows the CPU time of each kind: that of a request
// with four times the work is between two and five times as long.
func TestASearchVariesTheMix(t *testing.T) {
	cell := search(t, `
name: kinds
services: {server: {command: [SERVER, --port, "${port}"]}}
limits: {cpu: 500m}
load: {find: breaking-point, mix: [{name: cheap, path: "/burn?ms=1", weight: 3}, {name: dear, path: "/burn?ms=4"}]}
measure: {warmup: 500ms, duration: 10s}
objective: {p99: 100ms}`, nil)
	if undecided(cell.Breaking) {
		t.Skip(cell.Breaking.Reason)
	}
	each := map[string]float64{}
	for _, k := range cell.Kinds {
		if !k.Varied || k.CPUMS == nil {
			t.Fatalf("%+v: it was not left out", k)
		}
		each[k.Name] = *k.CPUMS
	}
	if ratio := each["dear"] / each["cheap"]; ratio < 2 || ratio > 5 {
		t.Errorf("%v ms of CPU time", each)
	}
}
