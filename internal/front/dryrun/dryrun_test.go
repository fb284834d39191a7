package dryrun

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/kubernetes/launch"
	"github.com/millicore/millicore/test/testkit/golden"
)

func plan(t *testing.T) Plan {
	t.Helper()
	e, err := file.Parse("shop.yaml", []byte(`name: shop
services:
  go:
    command: [./server, --port, "${port}", --motto, two words]
    env: {GOMAXPROCS: "${procs}", LOG_LEVEL: warn}
    ready: /healthz
    dependencies: [postgres]
  node: {workload: node}
limits: {cpu: 500m, memory: 256Mi}
vary: {procs: [1, 2, null]}
load: {request: {path: /items}, users: 50}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	return Plan{Experiment: e, Lasts: launch.Lasts(e), Requirements: launch.Requirements{
		{What: "go", State: launch.There, Words: "./server (/srv/server)"},
		{What: "services.node.env.GOMAXPROCS", State: launch.Noted, Words: "it is a setting of Go and has no effect on Node.js; Node.js runs JavaScript in one thread: use limits.replicas, or its cluster module"},
		{What: "go.db", State: launch.Missing, Words: `command "postgres" not found`},
	}}
}

func TestPlanAsExpected(t *testing.T) {
	var b bytes.Buffer
	if err := plan(t).Text(&b, display.Terminal{Width: 80}); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "plan-80.txt", b.String())
	for line := range strings.Lines(b.String()) {
		if width := display.Width(strings.TrimSuffix(line, "\n")); width > 80 {
			t.Errorf("%d columns: %q", width, line)
		}
	}
}

func TestJSONHasTheCells(t *testing.T) {
	var b bytes.Buffer
	if err := plan(t).JSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Cells, Trials int
		Needs         []struct{ What, State string }
		Plan          []struct {
			Service struct {
				Command []string
				Env     map[string]string
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Cells != 4 || got.Trials != 24 || len(got.Plan) != 4 || got.Plan[1].Service.Env["GOMAXPROCS"] != "2" || got.Needs[2].State != "missing" {
		t.Errorf("%+v", got)
	}
}

// A file that `try --save` wrote has a second part, which the run adds to its searches.
func TestThePlanNamesTheCommonLoad(t *testing.T) {
	e, err := file.Parse("try.yaml", []byte(`name: try
services: {as-is: {command: [./server]}, one: {command: [./server]}}
limits: {cpu: 500m}
load: {request: {path: /}, find: breaking-point}
objective: {p99: 100ms}
measure: {repeats: 1, common_load: {percent: 70}}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := (Plan{Experiment: e}).Text(&b, display.Terminal{Width: 200}); err != nil {
		t.Fatal(err)
	}
	if want := "After the searches, each cell is held at one load, 70% of the lowest breaking point, or the load that all held: 6 × 4 s."; !strings.Contains(b.String(), want) {
		t.Errorf("the plan does not say %q:\n%s", want, b.String())
	}
}
