package capacity

import (
	"reflect"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

func TestBoundsOf(t *testing.T) {
	cells := func(users bool, cpu ...int64) *experiment.Experiment {
		e := &experiment.Experiment{Server: &experiment.Server{}}
		for i, c := range cpu {
			cell := experiment.Cell{Index: i, Limits: experiment.Limits{CPUMillis: c}}
			cell.Load.Find = true
			if users {
				cell.Load.Users = &experiment.Target{Value: 1}
			}
			e.Cells = append(e.Cells, cell)
		}
		return e
	}
	alone := cells(false, 500, 500)
	alone.Server = nil
	changed := cells(false, 500, 500)
	changed.Server.Settings = []experiment.Setup{{Service: "new"}, {Service: "old", Before: true}}
	brief := cells(false, 500, 500)
	brief.Server.Settings = changed.Server.Settings
	changed.Measure.Duration, brief.Measure.Duration = 20*time.Second, 10*time.Second
	beside := cells(false, 500, 0)
	beside.Cells[1].Service.Dependencies = []experiment.Dependency{{Name: "neighbour", Builtin: experiment.Neighbour}}
	for _, test := range []struct {
		name  string
		e     *experiment.Experiment
		cell  int
		found map[int][]float64
		want  *signals.SearchBounds
	}{
		{"several services", alone, 1, map[int][]float64{0: {200}}, nil},
		{"the first", cells(false, 500, 500), 0, map[int][]float64{0: {200}}, nil},
		{"the first found nothing", cells(false, 500, 500, 0), 2, map[int][]float64{1: {200}}, nil},
		{"another setting", cells(false, 500, 500), 1, map[int][]float64{0: {190, 200}}, &signals.SearchBounds{First: 100, Short: true}},
		{"a higher limit", cells(false, 250, 300), 1, map[int][]float64{0: {100}}, &signals.SearchBounds{First: 60, Short: true}},
		{"a much higher limit", cells(false, 250, 2000), 1, map[int][]float64{0: {100}}, &signals.SearchBounds{First: 100, Short: true}},
		{"no limit", cells(false, 500, 500, 0), 2, map[int][]float64{0: {200}, 1: {250}}, &signals.SearchBounds{First: 300, Most: 300, Short: true}},
		{"no limit again", cells(false, 500, 0), 1, map[int][]float64{0: {200}, 1: {900}}, &signals.SearchBounds{First: 240, Most: 240, Short: true}},
		{"no limit, beside a neighbour", beside, 1, map[int][]float64{0: {200}}, &signals.SearchBounds{First: 100}},
		{"never a limit", cells(false, 0, 0), 1, map[int][]float64{0: {200}}, &signals.SearchBounds{First: 100, Short: true}},
		{"users", cells(true, 500, 500, 0), 2, map[int][]float64{0: {7}}, &signals.SearchBounds{First: 8, Most: 8, Short: true}},
		{"old and new, the first of each", changed, 1, map[int][]float64{0: {200}}, nil},
		{"old and new begin alike: the new one", changed, 0, map[int][]float64{0: {200}, 1: {150, 160}}, &signals.SearchBounds{First: 80, Short: true}},
		{"old and new begin alike: the old one", changed, 1, map[int][]float64{0: {200}, 1: {150, 160}}, &signals.SearchBounds{First: 80, Short: true}},
		{"bounds only, in too short a time, do not lower the next", brief, 0, map[int][]float64{0: {148, 74}, 1: {148}}, &signals.SearchBounds{First: 74}},
		{"one user", cells(true, 500, 500), 1, map[int][]float64{0: {1}}, &signals.SearchBounds{First: 1, Short: true}},
	} {
		if got := BoundsOf(test.e, &test.e.Cells[test.cell], test.found); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}
