package lab

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/platform/workload"
)

func TestASkippedServiceHasNoTrials(t *testing.T) {
	cell := func(i int, service, sample string) experiment.Cell {
		return experiment.Cell{Index: i, Service: experiment.Service{Name: service, Workload: sample}}
	}
	l := &Lab{
		Experiment: &experiment.Experiment{
			Cells: []experiment.Cell{cell(0, "go", "go"), cell(1, "ours", "node"), cell(2, "ours", "node"), cell(3, "bun", "bun"),
				{Index: 4, Service: experiment.Service{Name: "command", Command: []string{"./server"}}}},
			Measure: experiment.Measure{Repeats: 3},
		},
		samples: workload.Found{
			Commands: map[string][]string{"go": {"millicore-go"}, "bun": {"bun", "main.js"}},
			Missing:  map[string]error{"node": errors.New("install it")},
		},
	}
	skipped := l.skipped()
	if d := cmp.Diff([]record.Skipped{{Service: "ours", Reason: "install it"}}, skipped); d != "" {
		t.Error(d)
	}
	trials := map[int]int{}
	for _, p := range l.planned(skipped) {
		trials[p.Cell]++
	}
	if d := cmp.Diff(map[int]int{0: 3, 3: 3, 4: 3}, trials); d != "" {
		t.Error(d)
	}
	for i, want := range map[int][]string{0: {"millicore-go"}, 3: {"bun", "main.js"}, 4: {"./server"}} {
		got, err := l.command(&l.Experiment.Cells[i].Service)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Error(d, err)
		}
	}
	if got, err := l.command(&l.Experiment.Cells[1].Service); err == nil {
		t.Errorf("the command of a service that is skipped is %q", got)
	}
}

func TestARunWithoutServicesIsAnError(t *testing.T) {
	l := &Lab{
		Programs: Programs{Dir: t.TempDir()}, // where no program is
		Experiment: &experiment.Experiment{Name: "empty", Measure: experiment.Measure{Repeats: 1},
			Cells: []experiment.Cell{{Service: experiment.Service{Name: "go", Workload: "go"}}}},
	}
	if skipped, err := l.prepare(t.Context()); err == nil {
		t.Errorf("all services are missing, but the run continues without %+v", skipped)
	}
}
