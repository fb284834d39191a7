package experiment_test

import (
	"testing"

	"github.com/millicore/millicore/internal/data/experiment"
)

func TestACellIsNamedByItsSetting(t *testing.T) {
	cell := func(service string, millis int64) experiment.Cell {
		return experiment.Cell{Service: experiment.Service{Name: service}, Limits: experiment.Limits{CPUMillis: millis}}
	}
	server := &experiment.Server{Settings: []experiment.Setup{{Service: "as-is", Label: "as it is"}, {Service: "as-is-2", Label: "as it is"},
		{Service: "replicas-2", Label: "2 replicas"}, {Service: "no-limit", Label: "without the CPU limit"}, {Label: "GOMAXPROCS=2", NoEffect: "none"}}}
	for _, c := range []struct {
		name   string
		server *experiment.Server
		cells  []experiment.Cell
		want   []string
	}{
		{"no server", nil, []experiment.Cell{cell("as-is", 500)}, []string{"as-is"}},
		{"one limit", server, []experiment.Cell{cell("as-is", 500), cell("replicas-2", 500), cell("no-limit", 0), cell("other", 500)},
			[]string{"as it is", "2 replicas", "without the CPU limit", "other"}},
		{"several limits", server, []experiment.Cell{cell("as-is", 500), cell("as-is-2", 1500), cell("no-limit", 0)},
			[]string{"as it is (500m)", "as it is (1.5)", "without the CPU limit"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &experiment.Experiment{Server: c.server, Cells: c.cells}
			for i := range e.Cells {
				if got := e.LabelOf(&e.Cells[i]); got != c.want[i] {
					t.Errorf("%q, want %q", got, c.want[i])
				}
			}
		})
	}
}
