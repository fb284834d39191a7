package file_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment"
)

const settable = `
name: settable
services:
  go:
    command: [./server, --fast]
    env: {GOMAXPROCS: "${procs}"}
    dependencies: [{name: db, command: [./db]}]
limits: {cpu: "1"}
vary: {procs: [1, 2, 6]}
load: {request: {path: /}, users: 50}
`

func TestSet(t *testing.T) {
	first := func(e *experiment.Experiment) *experiment.Cell { return &e.Cells[0] }
	for _, c := range []struct {
		name string
		sets []string
		got  func(*experiment.Experiment) any
		want any
	}{
		{"a value in its place", []string{"limits.cpu=250m"},
			func(e *experiment.Experiment) any { return first(e).Limits.CPUMillis }, int64(250)},
		{"a key that the file does not have", []string{"limits.memory=64Mi"},
			func(e *experiment.Experiment) any { return first(e).Limits.Memory }, int64(64 << 20)},
		{"a section that the file does not have", []string{"measure.repeats=2", "measure.warmup=0s"},
			func(e *experiment.Experiment) any { return e.Measure },
			experiment.Measure{Warmup: 0, Duration: 20 * time.Second, Repeats: 2, Interval: time.Second}},
		{"a list", []string{"vary.procs=[3, null]"},
			func(e *experiment.Experiment) any { return e.Vary[0].Values }, append(texts("3"), nil)},
		{"a new axis and its use", []string{"vary.n=[7]", "load.users=${n}"},
			func(e *experiment.Experiment) any { return first(e).Load.Users.Value }, 7.0},
		{"a new variable, its = in the value", []string{"services.go.env.GODEBUG=containermaxprocs=0"},
			func(e *experiment.Experiment) any { return first(e).Service.Env["GODEBUG"] }, "containermaxprocs=0"},
		{"a variable to null", []string{"services.go.env.GOGC=null"},
			func(e *experiment.Experiment) any { return first(e).Service.Unset }, []string{"GOGC"}},
		{"null takes a limit away", []string{"limits.cpu=null"},
			func(e *experiment.Experiment) any { return first(e).Limits.CPUMillis }, int64(0)},
		{"nothing behind the = is null", []string{"limits.cpu="},
			func(e *experiment.Experiment) any { return first(e).Limits.CPUMillis }, int64(0)},
		{"an item of a list", []string{"services.go.command.1=--slow"},
			func(e *experiment.Experiment) any { return first(e).Service.Command }, []string{"./server", "--slow"}},
		{"a key in an item of a list", []string{"services.go.dependencies.0.limits.cpu=2"},
			func(e *experiment.Experiment) any { return first(e).Service.Dependencies[0].Limits.CPUMillis }, int64(2000)},
		{"stages instead of a number", []string{"load.users.stages=[{duration: 9s, target: 4}]"},
			func(e *experiment.Experiment) any { return first(e).Load.Users.Stages },
			[]experiment.Stage{{Duration: 9 * time.Second, Target: 4}}},
		{"where a ramp ends", []string{"load.users.ramp={from: 5, to: 15, by: 5, each: 4s}", "load.users.ramp.to=10"},
			func(e *experiment.Experiment) any { return first(e).Load.Users.Stages },
			[]experiment.Stage{{Target: 5}, {Duration: 4 * time.Second, Target: 5}, {Target: 10}, {Duration: 4 * time.Second, Target: 10}}},
		{"how a ramp climbs", []string{"load.users.ramp={from: 5, to: 11, by: 5, each: 4s}", "load.users.ramp.by=null", "load.users.ramp.times=2"},
			func(e *experiment.Experiment) any { return first(e).Load.Users.Stages },
			[]experiment.Stage{{Target: 5}, {Duration: 4 * time.Second, Target: 5}, {Target: 10}, {Duration: 4 * time.Second, Target: 10}, {Target: 11}, {Duration: 4 * time.Second, Target: 11}}},
		{"a number instead of a ramp", []string{"load.users.ramp={from: 5, to: 15, by: 5, each: 4s}", "load.users=7"},
			func(e *experiment.Experiment) any { return *first(e).Load.Users }, experiment.Target{Value: 7}},
		{"a whole section", []string{"limits={cpu: 500m, replicas: 2}"},
			func(e *experiment.Experiment) any { return first(e).Limits },
			experiment.Limits{CPUMillis: 500, Period: 100 * time.Millisecond, Replicas: 2}},
		{"a whole new service", []string{"services.bun={command: [bun, server.ts]}"},
			func(e *experiment.Experiment) any { return e.Cells[3].Label() }, "bun"},
		{"one of two that exclude one another", []string{"load.users=null", "load.rate=90"},
			func(e *experiment.Experiment) any { return first(e).Load.Rate.Value }, 90.0},
		{"a search", []string{"load.find=breaking-point", "objective.p99=100ms"},
			func(e *experiment.Experiment) any { return first(e).Load.Find && e.Measure.Repeats == 1 }, true},
		{"no search", []string{"load.find=breaking-point", "load.find=null"},
			func(e *experiment.Experiment) any { return first(e).Load.Find || e.Measure.Repeats == 1 }, false},
		{"profiles", []string{"profile=true"},
			func(e *experiment.Experiment) any { return e.Profile }, true},
		{"a service without the limit of the others", []string{"services.go.limits.cpu=null"},
			func(e *experiment.Experiment) any { return first(e).Limits.CPUMillis }, int64(0)},
		{"a service with a limit of its own", []string{"services.go.limits={memory: 64Mi}"},
			func(e *experiment.Experiment) any { return first(e).Limits },
			experiment.Limits{CPUMillis: 1000, Memory: 64 << 20, Period: 100 * time.Millisecond, Replicas: 1}},
		{"a port to find", []string{"services.go.port=find"},
			func(e *experiment.Experiment) any { return first(e).Service.FindPort }, true},
		{"metrics", []string{"services.go.metrics.dependency=db_seconds"},
			func(e *experiment.Experiment) any { return first(e).Service.Metrics },
			&experiment.Metrics{Path: "/metrics", Dependency: "db_seconds"}},
		{"the last of two of the same path", []string{"limits.cpu=250m", "limits.cpu=750m"},
			func(e *experiment.Experiment) any { return first(e).Limits.CPUMillis }, int64(750)},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := parse(t, settable, c.sets...)
			if diff := cmp.Diff(c.want, c.got(e)); diff != "" {
				t.Errorf("after --set %v (-want +got):\n%s", c.sets, diff)
			}
			if e.Source != settable {
				t.Errorf("the source was changed by --set:\n%s", e.Source)
			}
			if diff := cmp.Diff(c.sets, e.Sets); diff != "" {
				t.Errorf("sets that are kept (-want +got):\n%s", diff)
			}
		})
	}
}
