package program

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/experiments"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/data/record"
)

// shortForms are short forms of the experiments that ship: the same services, requests and
// claims with less load, and with higher limits where a short run would show nothing. Their
// figures have no meaning.
var shortForms = map[string][]string{
	"quick":              {"measure.warmup=500ms", "measure.duration=1s", "measure.repeats=1"},
	"cpu-limits-and-go":  {"vary.procs=[1, 3, 6]", "measure.warmup=500ms", "measure.duration=3s", "measure.repeats=1", "services.go-changed-while-running.actions.0.at=1s"},
	"breaking-point":     {"measure.warmup=500ms", "measure.duration=10s", "vary.procs=[1]"},
	"gomaxprocs-default": {"measure.warmup=500ms", "measure.duration=10s", "measure.repeats=1"},
	"ramp":               {"measure.warmup=500ms", "load.rate.ramp.to=100", "load.rate.ramp.each=2s"},
	"go-vs-node":         {"measure.warmup=500ms", "measure.repeats=1", "load.rate.ramp.to=3000", "load.rate.ramp.each=2s"},
	"go-vs-bun":          {"measure.warmup=500ms", "measure.repeats=1", "load.rate.ramp.to=3000", "load.rate.ramp.each=2s"},
	"go-vs-bun-mongodb":  {"limits.cpu=500m", "measure.warmup=1s", "measure.repeats=1", "load.rate.ramp.to=200", "load.rate.ramp.each=1s"},
	"go-vs-bun-postgres": {"limits.cpu=500m", "measure.warmup=1s", "measure.repeats=1", "load.rate.ramp.to=200", "load.rate.ramp.each=1s"},
	"automaxprocs-table": {"measure.warmup=500ms", "measure.duration=2s", "measure.repeats=1"},
	"frameworks":         {"load.find=null", "load.rate=500", "measure.warmup=500ms", "measure.duration=2s", "measure.repeats=1"},
	"semaphore":          {"vary.procs=[2, 1]", "services.corrected.env.BENCHTIME=1x", "measure.repeats=1"},

	"workers-vs-goroutines":            {"load.request.path=/loop?n=10000000", "measure.duration=2s"},
	"workers-vs-goroutines-shared-map": {"load.request.path=/counter/shared?n=10000000", "measure.duration=2s"},
}

// oneOfEachKind are experiments with a fixed load, a search, a database and a benchmark.
// make test runs these, and make test-system all others.
var oneOfEachKind = []string{"quick", "breaking-point", "go-vs-bun-postgres", "semaphore"}

func TestAShippedExperimentOfEachKind(t *testing.T) {
	for _, name := range oneOfEachKind {
		t.Run(name, func(t *testing.T) { shippedExperimentRuns(t, name) })
	}
}

// Each experiment that ships, and its short form, is valid and can be run here.
func TestEveryShippedExperimentHasAPlan(t *testing.T) {
	needCgroups(t)
	for _, name := range experiments.Names() {
		for _, sets := range [][]string{nil, shortForms[name]} {
			out, err := exec.Command(filepath.Join(bin, "millicore"), append([]string{"run", name, "--dry-run", "--json"}, settings(sets)...)...).Output()
			var planned struct {
				Experiment string
				Trials     int
				Plan       []json.RawMessage // by cell
			}
			if err == nil {
				err = json.Unmarshal(out, &planned)
			}
			if err != nil || planned.Experiment != name || planned.Trials < len(planned.Plan) || len(planned.Plan) == 0 {
				t.Errorf("%s %q: %v, %d trials of %d cells:\n%s", name, sets, err, planned.Trials, len(planned.Plan), out)
			}
		}
	}
}

// settings are the arguments that change fields of an experiment.
func settings(sets []string) (args []string) {
	for _, set := range sets {
		args = append(args, "--set", set)
	}
	return args
}

// shippedExperimentRuns runs an experiment in its short form: each cell is measured,
// nothing is skipped, and each claim has a verdict with figures of its cells.
func shippedExperimentRuns(t *testing.T, name string) {
	needCgroups(t)
	hurry(t)
	sets, ok := shortForms[name]
	if !ok {
		t.Fatal("it has no short form: add one")
	}
	s := shortened(t, name, sets)
	if len(s.Cells) == 0 {
		t.Fatal("no cells")
	}
	for _, c := range s.Cells {
		if c.Trials == 0 {
			t.Errorf("%s: not one trial was measured", c.Label)
		}
	}
	for _, f := range s.Findings {
		if f.Level == "warning" && strings.Contains(f.Title, "skipped") {
			t.Errorf("%s: %s", f.Title, f.Text)
		}
	}
	claimsRestOnFigures(t, name+".yaml", s)
}

// claimsRestOnFigures checks that the summary has all claims of a file, each with its
// cells and a figure of each. A short load may not reach the breaking point: then the
// cells are enough.
func claimsRestOnFigures(t *testing.T, name string, s *summary.Summary) {
	t.Helper()
	text, err := experiments.Files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	written, err := file.Parse(name, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Claims) != len(written.Claims) {
		t.Fatalf("%d claims have a verdict, want %d", len(s.Claims), len(written.Claims))
	}
	for i, c := range s.Claims {
		want := &written.Claims[i]
		cells := len(want.Order)
		if want.Of != nil {
			cells++
		}
		if want.Over != nil {
			cells++
		}
		if c.Verdict == "" || c.Reason == "" || len(c.Cells) != cells {
			t.Errorf("%q: verdict %q of %d cells (%s), want one of %d with its reason", c.Says, c.Verdict, len(c.Cells), c.Reason, cells)
		}
		for _, one := range c.Cells {
			switch {
			case one.Cell == nil:
				t.Errorf("%q: the run has no cell %s", c.Says, one.Label)
			case one.Value == nil && c.Metric != verdict.BreakingPointMetric:
				t.Errorf("%q: no %s of %s: %s", c.Says, c.Metric, one.Label, c.Reason)
			}
		}
	}
}

// Without Node.js its service is skipped, the other one is measured, and the run succeeds.
func TestAServiceWithoutItsRuntimeIsSkipped(t *testing.T) {
	needCgroups(t)
	dir := filepath.Join(t.TempDir(), "record")
	args := append([]string{"run", "go-vs-node", "--json", "--out", dir, "--set", "objective=null"}, settings(shortForms["go-vs-node"])...)
	c := exec.Command(filepath.Join(bin, "millicore"), args...)
	// No node, no npm, and no packages that an earlier run installed.
	c.Env = append(os.Environ(), "PATH="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir())
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("it ended with %v, want 0\n%s", err, &errs)
	}
	nothingLeft(t, c.Process.Pid)
	var s summary.Summary
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatal(err)
	}
	for _, cell := range s.Cells {
		switch trials := cell.Trials; {
		case cell.Service == "go" && (trials != 1 || cell.Requests == 0):
			t.Errorf("go: %d trials, %d requests; want it measured", trials, cell.Requests)
		case cell.Service == "node" && (trials != 0 || !slices.Contains(cell.Flags, "skipped")):
			t.Errorf("node: %d trials, flags %v; want it skipped", trials, cell.Flags)
		}
	}
	const install = "install Node.js"
	if !slices.ContainsFunc(s.Findings, func(f summary.Finding) bool {
		return f.Level == "warning" && strings.Contains(f.Title, "node was skipped") && strings.Contains(f.Text, install)
	}) {
		t.Errorf("findings %+v; want one with the installation", s.Findings)
	}
	if !strings.Contains(errs.String(), install) {
		t.Errorf("the messages do not say what to install:\n%s", &errs)
	}
	said := false
	for _, claim := range s.Claims {
		if claim.Verdict != summary.Inconclusive {
			t.Errorf("%q: %s: %s; want that it is undecided without Node.js", claim.Says, claim.Verdict, claim.Reason)
		}
		said = said || strings.Contains(claim.Reason, install)
	}
	if !said {
		t.Errorf("no claim has the installation: %+v", s.Claims)
	}
	text, err := os.ReadFile(filepath.Join(dir, record.RunFile))
	if err != nil {
		t.Fatal(err)
	}
	var run record.Run
	if err := json.Unmarshal(text, &run); err != nil {
		t.Fatal(err)
	}
	if len(run.Skipped) != 1 || run.Skipped[0].Service != "node" || !strings.Contains(run.Skipped[0].Reason, install) || len(run.Plan) != 1 {
		t.Errorf("the record has skipped %+v, and a plan of %d trials; want node, and one", run.Skipped, len(run.Plan))
	}
}

// shortened runs an experiment that ships, with changed settings.
func shortened(t *testing.T, name string, sets []string) *summary.Summary {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "record")
	c := exec.Command(filepath.Join(bin, "millicore"), append([]string{"run", name, "--json", "--out", dir}, settings(sets)...)...)
	s := finish(t, c)
	for _, left := range groupsOf(c.Process.Pid) {
		t.Errorf("cgroup left behind: %s", left)
	}
	if info, err := os.Stat(filepath.Join(dir, "report.html")); err != nil || info.Size() == 0 {
		t.Errorf("no report: %v", err)
	}
	return s
}
