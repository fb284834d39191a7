package file_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment"
)

// claiming has claims of every form.
const claiming = `
name: claiming
services:
  go: {workload: go, env: {GOMAXPROCS: "${procs}"}}
  node: {workload: node}
limits: {cpu: "1"}
vary: {procs: [1, 6, null]}
load: {request: {path: /devices}, find: breaking-point}
objective: {p99: 100ms}
claims:
  - says: |
      p99 of 6 is four times that of 1
    published: 809 ms against 205 ms
    metric: p99
    of: {service: go, procs: 6}
    over: {procs: 1}
    above: 1.5
    cpus: 6
  - {says: 1 is not throttled, metric: throttled, of: {procs: "1"}, below: 0.1}
  - {says: go lasts longer, metric: breaking_point, order: [{service: node}, {procs: null}]}
`

func TestClaimsFindTheirCells(t *testing.T) {
	e := parse(t, claiming)
	procs := func(value string) map[string]*string { return map[string]*string{"procs": &value} }
	number := func(v float64) *float64 { return &v }
	want := []experiment.Claim{
		{Says: "p99 of 6 is four times that of 1", Published: "809 ms against 205 ms", Metric: "p99", Above: number(1.5), CPUs: 6,
			Of:   &experiment.Selector{Service: "go", Vary: procs("6"), Cell: 1},
			Over: &experiment.Selector{Vary: procs("1"), Cell: 0}},
		{Says: "1 is not throttled", Metric: "throttled", Below: number(0.1), Of: &experiment.Selector{Vary: procs("1"), Cell: 0}},
		{Says: "go lasts longer", Metric: "breaking_point",
			Order: []experiment.Selector{{Service: "node", Cell: 3}, {Vary: map[string]*string{"procs": nil}, Cell: 2}}},
	}
	if diff := cmp.Diff(want, e.Claims); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
}

func TestTheOneCellNeedsNoWords(t *testing.T) {
	e := parse(t, "name: x\nservices: {go: {workload: go}}\nload: {request: {path: /}, users: 5}\nclaims: [{says: quick, metric: p50, of: {}, below: 10}]\n")
	if got := e.Claims[0].Of.Cell; got != 0 {
		t.Errorf("it means cell %d, want 0", got)
	}
}

// TestASetMayLeaveOutWhatAClaimIsAbout guards short runs of long experiments:
// what a claim means is then not there, which its verdict says.
func TestASetMayLeaveOutWhatAClaimIsAbout(t *testing.T) {
	for _, c := range []struct {
		name string
		sets []string
		of   []int // cells of the claims' first selectors
	}{
		{"a value", []string{"vary.procs=[1]"}, []int{experiment.NoCell, 0, 1}},
		{"all values", []string{"vary.procs=[2]"}, []int{experiment.NoCell, experiment.NoCell, 1}},
		{"the search", []string{"load.find=null", "load.users=5"}, []int{1, 0, 3}},
		{"nothing of it", []string{"measure.duration=10s"}, []int{1, 0, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := parse(t, claiming, c.sets...)
			got := []int{e.Claims[0].Of.Cell, e.Claims[1].Of.Cell, e.Claims[2].Order[0].Cell}
			if diff := cmp.Diff(c.of, got); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
		})
	}
}

// setting has limits and a request that are varied, and values that are not.
const setting = `
name: setting
services:
  go: {workload: go, env: {GOMAXPROCS: "${procs}"}}
  node: {workload: node, limits: {memory: 64Mi}}
limits: {cpu: "${cpu}", memory: 256Mi}
vary: {procs: [1, 2], cpu: ["1"], size: [100]}
load: {request: {path: "/loop?n=${size}"}, rate: {ramp: {from: 100, to: 300, by: 100, each: 5s}}}
objective: {p99: 100ms}
claims:
  - {says: two cells, metric: p99, of: {procs: 1}, over: {service: node}, at: 200, above: 1}
  - {says: it breaks, metric: breaking_point, of: {procs: 2}, above: 100}
`

// TestASetNeverMakesAClaimOneAboutAnotherCell holds claims against the cells of
// the file as it is written: what a selector leaves out is a part of it too.
func TestASetNeverMakesAClaimOneAboutAnotherCell(t *testing.T) {
	const none = experiment.NoCell
	for _, c := range []struct {
		name  string
		sets  []string
		cells []int // of, over, and of of the second
		set   [2][]string
	}{
		{"nothing", nil, []int{0, 2, 1}, [2][]string{}},
		{"how long is measured", []string{"measure.repeats=2"}, []int{0, 2, 1}, [2][]string{}},
		{"a value that no selector names", []string{"vary.cpu=[4]"}, []int{none, none, none}, [2][]string{}},
		{"one more of it", []string{"vary.cpu=[1, 4]"}, []int{0, 4, 2}, [2][]string{}},
		{"a new name", []string{"vary.gc=[50]", "services.go.env.GOGC=${gc}"}, []int{none, 2, none}, [2][]string{}},
		{"a service's variable", []string{"services.go.env.GOGC=50"}, []int{0, 2, 1}, [2][]string{{"the service"}, {"the service"}}},
		{"the other service's", []string{"services.node.env.UV_THREADPOOL_SIZE=8"}, []int{0, 2, 1}, [2][]string{{"the service"}, nil}},
		{"a limit", []string{"limits.memory=1Gi"}, []int{0, 2, 1}, [2][]string{{"limits"}, {"limits"}}},
		{"a limit to what it is", []string{"limits.memory=256Mi"}, []int{0, 2, 1}, [2][]string{}},
		{"the load's levels", []string{"load.rate.ramp.to=200"}, []int{0, 2, 1}, [2][]string{{"load"}, {"load"}}},
		{"limits, load and the objective", []string{"load.agents=2", "limits.replicas=2", "objective.p99=50ms"}, []int{0, 2, 1},
			[2][]string{{"limits", "load"}, {"limits", "load", "the objective"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := parse(t, setting, c.sets...)
			got := []int{e.Claims[0].Of.Cell, e.Claims[0].Over.Cell, e.Claims[1].Of.Cell}
			if diff := cmp.Diff(c.cells, got); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.set, [2][]string{e.Claims[0].Set, e.Claims[1].Set}); diff != "" {
				t.Errorf("set (-want +got):\n%s", diff)
			}
		})
	}
}

// TestACellThatASetMadeAnotherIsNotMeant sets what distinguishes the selectors: the
// cells still have the names of the file's, and are others.
func TestACellThatASetMadeAnotherIsNotMeant(t *testing.T) {
	const file = `
name: x
services: {go: {workload: go, env: {GOMAXPROCS: "${cpu}"}}}
limits: {cpu: "${cpu}"}
vary: {cpu: [1, 2]}
load: {request: {path: /}, users: 5}
claims: [{says: quick, metric: p50, of: {cpu: 1}, below: 10}]
`
	e := parse(t, file, "limits.cpu=4")
	if c := e.Claims[0]; c.Of.Cell != experiment.NoCell || c.Of.Label() != "go cpu=1" || len(c.Set) != 1 || c.Set[0] != "limits" {
		t.Errorf("a limit of 4 is taken for one of 1: %+v of %+v", c, c.Of)
	}
	if c := parse(t, file, "load.users=9").Claims[0]; c.Of.Cell != 0 {
		t.Errorf("the load distinguishes no cells, and %+v of %+v means none", c, c.Of)
	}
}

// What is missing is named in full, with the values that its selector leaves out.
func TestAMissingCellIsNamedInFull(t *testing.T) {
	if got, want := parse(t, setting, "vary.cpu=[4]").Claims[0].Of.Label(), "go cpu=1 procs=1 size=100"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A claim that is set itself means what there is.
func TestAClaimThatIsSetMeansACellOfTheRun(t *testing.T) {
	e := parse(t, claiming, "vary.procs=[8]", "claims=[{says: quick, metric: p50, of: {procs: 8}, below: 10}]")
	if got := e.Claims[0].Of.Cell; got != 0 {
		t.Errorf("it means cell %d, want 0", got)
	}
}

// A file that is right only with what is set has no other meaning than that.
func TestAFileThatNeedsASetMeansWhatItHasThen(t *testing.T) {
	e := parse(t, "name: x\nservices: {go: {workload: go}}\nload: {request: {path: /}}\nclaims: [{says: quick, metric: p50, of: {}, below: 10}]\n", "load.users=5")
	if c := e.Claims[0]; c.Of.Cell != 0 || c.Set != nil {
		t.Errorf("%+v of %+v", c, c.Of)
	}
}

func TestASelectorIsNamedAsItIsWritten(t *testing.T) {
	e := parse(t, claiming)
	for got, want := range map[string]string{
		e.Claims[0].Of.Label():           "go procs=6",
		e.Claims[0].Over.Label():         "procs=1",
		e.Claims[2].Order[0].Label():     "node",
		e.Claims[2].Order[1].Label():     "procs=unset",
		(&experiment.Selector{}).Label(): "the cell",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
