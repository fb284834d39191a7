package results

import (
	"testing"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
)

func TestARunIsInterruptedWhereSomethingIsMissing(t *testing.T) {
	plan := []experiment.Trial{{Number: 1, Repeat: 1}, {Number: 2, Repeat: 2}}
	first, second := record.Trial{Trial: 1, Repeat: 1, Outcome: record.Done}, record.Trial{Trial: 2, Repeat: 2, Outcome: record.Done}
	cut, failed := second, second
	cut.Outcome, failed.Outcome = record.Started, record.Failed
	for _, c := range []struct {
		name     string
		trials   []record.Trial
		finished bool
		want     bool
	}{
		{"the plan was worked through", []record.Trial{first, second}, true, false},
		{"a trial failed, and the plan was worked through", []record.Trial{first, failed}, true, false},
		{"stopped between trials", []record.Trial{first}, false, true},
		{"killed within a trial", []record.Trial{first, cut}, false, true},
		{"stopped after the last trial", []record.Trial{first, second}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &record.Record{Run: record.Run{Plan: plan}, Trials: c.trials, Finished: c.finished}
			if got := about(r).Interrupted; got != c.want {
				t.Errorf("interrupted = %v, want %v", got, c.want)
			}
		})
	}
}
