package objects

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// asked is an experiment of one cell that suits, but for what a test changes.
func asked(change func(*experiment.Experiment, *experiment.Cell)) *experiment.Experiment {
	e := &experiment.Experiment{Measure: experiment.Measure{Duration: time.Minute}, Cells: []experiment.Cell{{
		Service: experiment.Service{Name: "go", Workload: "go"}, Limits: experiment.Limits{CPUMillis: 500, Period: signals.DefaultPeriod, Replicas: 2},
		Load: experiment.Load{Users: &experiment.Target{Value: 1}, Agents: 2}}}}
	if change != nil {
		change(e, &e.Cells[0])
	}
	return e
}

// A memory limit that becomes smaller is refused before anything starts, where the API
// server would refuse it in the middle of the run.
func TestWhatAVersionCanResize(t *testing.T) {
	cells := func(resize bool, memory ...int64) *experiment.Experiment {
		return asked(func(e *experiment.Experiment, c *experiment.Cell) {
			e.Measure.Resize = resize
			for i, m := range memory {
				if i > 0 {
					e.Cells = append(e.Cells, e.Cells[0])
				}
				e.Cells[i].Limits.Memory, e.Cells[i].Limits.CPUMillis = m<<20, 500*int64(i+1)
			}
		})
	}
	another := cells(true, 64, 128)
	another.Cells[1].Service.Name = "another" // which is not resized but started
	for _, c := range []struct {
		name  string
		e     *experiment.Experiment
		minor int
		want  string
	}{
		{"no resize", cells(false, 64, 128), 32, ""},
		{"CPU", cells(true, 64, 64), 33, ""},
		{"CPU, too old", cells(true, 64, 64), 32, "1.33 and newer have it, this is v1.32.1"},
		{"memory", cells(true, 64, 128), 33, "1.34 and newer can reduce the memory limit of a running pod, this is v1.33.1; give all cells the same limits.memory"},
		{"memory of different services", another, 33, ""},
		{"memory, new enough", cells(true, 64, 128), 34, ""},
		{"a version that is not known", cells(true, 64, 128), 0, ""},
	} {
		err := SuitsVersion(c.e, kube.Version{Name: fmt.Sprintf("v1.%d.1", c.minor), Minor: c.minor})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestWhatDoesNotSuit(t *testing.T) {
	resized := func(change func(*experiment.Cell)) func(*experiment.Experiment, *experiment.Cell) {
		return func(e *experiment.Experiment, c *experiment.Cell) {
			other := *c
			other.Limits.CPUMillis = 1000
			change(&other)
			e.Cells, e.Measure.Resize = append(e.Cells, other), true
		}
	}
	for _, c := range []struct {
		name   string
		change func(*experiment.Experiment, *experiment.Cell)
		want   string // "" where it suits
	}{
		{"all of it", nil, ""},
		{"a benchmark", func(_ *experiment.Experiment, c *experiment.Cell) { c.Load = experiment.Load{Benchmark: true} }, "--on local only"},
		{"a command", func(_ *experiment.Experiment, c *experiment.Cell) { c.Service.Command = []string{"x"} }, `service "go": a command cannot run in a pod`},
		{"a sample service without an image", func(_ *experiment.Experiment, c *experiment.Cell) { c.Service.Workload = "semaphore" }, `"semaphore" has no image`},
		{"a port that is to be found", func(_ *experiment.Experiment, c *experiment.Cell) { c.Service.FindPort = true }, "port: 8080"},
		{"a burst", func(_ *experiment.Experiment, c *experiment.Cell) { c.Limits.BurstMillis = 100 }, "no field for a CPU burst"},
		{"CPUs", func(_ *experiment.Experiment, c *experiment.Cell) { c.Limits.CPUSet = "0" }, "leave cpuset out"},
		{"a period", func(_ *experiment.Experiment, c *experiment.Cell) { c.Limits.Period = 10 * time.Millisecond }, "usually to 100ms and not to 10ms"},
		{"processes", func(_ *experiment.Experiment, c *experiment.Cell) { c.Limits.PIDs = 100 }, "leave pids out"},
		{"a user", func(_ *experiment.Experiment, c *experiment.Cell) { c.Service.User = "1000:5" }, ""},
		{"a user's name", func(_ *experiment.Experiment, c *experiment.Cell) { c.Service.User = "shop" }, `"shop" is no number`},
		{"a dependency's user", func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Service.Dependencies = []experiment.Dependency{{Name: "db", Image: "db", User: "me"}}
		}, `dependency "db": user`},
		{"a period without a limit", func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Limits = experiment.Limits{Period: 10 * time.Millisecond, Replicas: 1}
		}, ""},
		{"profiles", func(e *experiment.Experiment, _ *experiment.Cell) { e.Profile = true }, "profiles need a process on this machine"},
		{"a dependency's command", func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Service.Dependencies = []experiment.Dependency{{Name: "db", Command: []string{"x"}}}
		}, `dependency "db": a command`},
		{"a dependency here", func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Service.Dependencies = []experiment.Dependency{{Name: "db", URL: "postgres://me@localhost:5432/db"}}
		}, "localhost means the pod itself"},
		{"a dependency elsewhere", func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Service.Dependencies = []experiment.Dependency{{Name: "db", URL: "postgres://me@10.0.0.1:5432/db"}}
		}, ""},
		{"a dependency's limits", func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Service.Dependencies = []experiment.Dependency{{Name: "db", Builtin: "postgres", Limits: experiment.Limits{CPUSet: "1"}}}
		}, `dependency "db": Kubernetes has no field for the CPUs`},
		{"a neighbour", func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Service.Dependencies = []experiment.Dependency{{Name: "neighbour", Builtin: experiment.Neighbour}}
		}, `dependency "neighbour": Kubernetes would not run it on the node of the service`},
		{"other limits in place", resized(func(*experiment.Cell) {}), ""},
		{"a limit taken away in place", resized(func(c *experiment.Cell) { c.Limits.CPUMillis = 0 }), "cannot add or remove the CPU limit"},
		{"memory limited in place", resized(func(c *experiment.Cell) { c.Limits.Memory = 1 << 20 }), "cannot add or remove the memory limit"},
		{"replicas that come and go", func(e *experiment.Experiment, c *experiment.Cell) {
			c.Service.Autoscale = &experiment.Autoscale{Min: 2, Max: 3, CPUPercent: 50}
			resized(func(*experiment.Cell) {})(e, c)
		}, "an autoscaled service cannot be resized"},
	} {
		err := Suits(asked(c.change))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
