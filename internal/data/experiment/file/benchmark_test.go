package file_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
)

// measuring is a program that measures itself.
const measuring = `name: bench
services:
  mine: {command: [./mine.test, "-test.bench=${what}", "-test.benchtime=${time}"], env: {GOMAXPROCS: "${procs}"}}
limits: {cpu: "1"}
vary: {what: [Sort, Map], time: [1s, 100x], procs: [1, null]}
load: {benchmark: true}
measure: {duration: 90s, repeats: 6, interval: 500ms}
`

func TestABenchmarkHasCellsAndNoTraffic(t *testing.T) {
	e := parse(t, measuring)
	if len(e.Cells) != 8 {
		t.Fatalf("%d cells, want 2 x 2 x 2", len(e.Cells))
	}
	for i := range e.Cells {
		checkBenchmark(t, e, &e.Cells[i])
	}
	c := &e.Cells[7]
	if c.Label() != "mine what=Map time=100x procs=unset" || c.Service.Command[2] != "-test.benchtime=100x" || len(c.Service.Unset) != 1 {
		t.Errorf("last cell %s: %+v", c.Label(), c.Service)
	}
	want := experiment.Measure{Duration: 90 * time.Second, Repeats: 6, Interval: 500 * time.Millisecond}
	if e.Measure != want {
		t.Errorf("measure %+v, want %+v: no warm-up", e.Measure, want)
	}
}

// checkBenchmark wants what the lab relies on.
func checkBenchmark(t *testing.T, e *experiment.Experiment, c *experiment.Cell) {
	t.Helper()
	if !reflect.DeepEqual(c.Load, experiment.Load{Benchmark: true}) || c.Load.Target() != nil || e.Measure.Measured(c) != 0 {
		t.Errorf("cell %d has traffic: %+v", c.Index, c.Load)
	}
	if c.Limits.Replicas != 1 || e.Measure.Duration <= 0 || e.Measure.Warmup != 0 || e.Objective != nil || e.Profile {
		t.Errorf("cell %d: %+v, %+v", c.Index, c.Limits, e.Measure)
	}
}

func TestABenchmarkMayTakeTenMinutesWhereTheFileDoesNotSay(t *testing.T) {
	e := parse(t, strings.Replace(measuring, "duration: 90s, ", "", 1))
	if e.Measure.Duration != 10*time.Minute {
		t.Errorf("duration %v", e.Measure.Duration)
	}
}

func TestABenchmarkThatIsFalseIsTraffic(t *testing.T) {
	e := parse(t, "name: x\nservices: {go: {workload: go}}\nload: {benchmark: false, request: {path: /}, users: 3}\n")
	if l := e.Cells[0].Load; l.Benchmark || l.Users == nil || e.Measure.Warmup == 0 {
		t.Errorf("load %+v, %+v", l, e.Measure)
	}
}

func TestABenchmarkIsSetFromTheCommandLine(t *testing.T) {
	sets := []string{"measure.duration=5s", "measure.repeats=1", "vary.what=[Sort]", "limits.cpu=2", "load.users=null"}
	e, err := file.Parse("x.yaml", []byte(measuring), sets)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Cells) != 4 || e.Measure.Duration != 5*time.Second || e.Cells[0].Limits.CPUMillis != 2000 {
		t.Errorf("%d cells, %+v, %+v", len(e.Cells), e.Measure, e.Cells[0].Limits)
	}
}

func TestBadBenchmarks(t *testing.T) {
	const head = "name: x\nservices: {mine: {command: [./x]}}\n"
	for name, test := range map[string]struct {
		yaml string
		sets []string
		want string
	}{
		"traffic": {
			yaml: head + "load: {benchmark: true, request: {path: /}, users: 5, find: breaking-point, agents: 2, timeout: null}\n",
			want: "x.yaml:3:25: load.request: a benchmark receives no traffic; leave request out\n" +
				"x.yaml:3:45: load.users: a benchmark receives no traffic; leave users out\n" +
				"x.yaml:3:55: load.find: a benchmark receives no traffic; leave find out\n" +
				"x.yaml:3:77: load.agents: a benchmark receives no traffic; leave agents out",
		},
		"traffic by --set": {
			yaml: head + "load: {benchmark: true}\n", sets: []string{"load.rate=50"},
			want: "--set load.rate=50: load.rate: a benchmark receives no traffic; leave rate out",
		},
		"an unknown key": {
			yaml: head + "load: {benchmark: true, user: 5}\n",
			want: `x.yaml:3:25: unknown key "user"; did you mean "users"?`,
		},
		"another word": {
			yaml: head + "load: {benchmark: yes}\n",
			want: `x.yaml:3:19: load.benchmark: "yes" is neither true nor false`,
		},
		"what is asked of a service": {
			yaml: "name: x\nservices:\n  mine:\n    command: [./x]\n    port: 80\n    ready: /\n    ready_timeout: 5s\n    metrics: {dependency: a}\n" +
				"    actions: [{at: 1s, request: {path: /}}]\nload: {benchmark: true}\n",
			want: "x.yaml:5:11: services.mine: a benchmark serves nothing; leave port out\n" +
				"x.yaml:6:12: services.mine: a benchmark serves nothing; leave ready out\n" +
				"x.yaml:7:20: services.mine: a benchmark serves nothing; leave ready_timeout out\n" +
				"x.yaml:8:14: services.mine: a benchmark serves nothing; leave metrics out\n" +
				"x.yaml:9:14: services.mine: a benchmark serves nothing; leave actions out",
		},
		"several at once": {
			yaml: head + "limits: {replicas: \"${n}\"}\nvary: {n: [1, 2]}\nload: {benchmark: true}\n",
			want: `x.yaml:4:15: limits.replicas: a benchmark has one replica, not 2 (from "${n}" at 3:20)`,
		},
		"an objective, a warm-up, a profile": {
			yaml: head + "load: {benchmark: true}\nmeasure: {warmup: 5s, restart: false}\nobjective: {p99: 5ms}\nprofile: true\n",
			want: "x.yaml:4:19: measure.warmup: a benchmark has its own warm-up; leave warmup out\n" +
				"x.yaml:4:32: measure.restart: a benchmark ends by itself, and each trial starts it again; leave restart out\n" +
				"x.yaml:5:12: objective: a benchmark answers no requests; leave objective out\n" +
				"x.yaml:6:10: profile: Millicore takes no profile of a benchmark; leave profile out, and let the benchmark write its own (-test.cpuprofile)",
		},
		"a workload that serves": {
			yaml: "name: x\nservices: {go: {workload: go}}\nload: {benchmark: true}\n",
			want: "x.yaml:2:27: services.go.workload: go serves requests and never ends; workloads that measure themselves: semaphore",
		},
		"traffic to a workload that measures itself": {
			yaml: "name: x\nservices: {s: {workload: semaphore}}\nload: {request: {path: /}, users: 1}\n",
			want: "x.yaml:2:26: services.s.workload: semaphore measures itself and receives no traffic; write load: {benchmark: true}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := file.Parse("x.yaml", []byte(test.yaml), test.sets)
			if err == nil || err.Error() != test.want {
				t.Errorf("errors\n%v\nwant\n%s", err, test.want)
			}
		})
	}
}

func TestTheSchemaTakesABenchmarkWithoutARequest(t *testing.T) {
	schema := compiledSchema(t)
	for text, good := range map[string]bool{
		measuring: true,
		"name: x\nservices: {m: {command: [./x]}}\nload: {benchmark: false, request: {path: /}, users: 1}\n": true,
		"name: x\nservices: {m: {command: [./x]}}\nload: {benchmark: true, users: 1}\n":                      false,
		"name: x\nservices: {m: {command: [./x]}}\nload: {users: 1}\n":                                       false,
	} {
		value, err := asJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); (err == nil) != good {
			t.Errorf("the schema says %v of\n%s", err, text)
		}
	}
}
