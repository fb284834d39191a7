package analysis

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/lab/wording"
)

func TestASkippedServiceIsReported(t *testing.T) {
	cell := func(i int, service string) experiment.Cell {
		return experiment.Cell{Index: i, Service: experiment.Service{Name: service}, Limits: experiment.Limits{Replicas: 1},
			Load: experiment.Load{Users: &experiment.Target{Value: 1}, Agents: 1}}
	}
	b := New(&experiment.Experiment{
		Cells:     []experiment.Cell{cell(0, "go"), cell(1, "bun"), cell(2, "bun")},
		Measure:   experiment.Measure{Interval: time.Second, Repeats: 1},
		Objective: &experiment.Objective{Availability: 99.9},
		Claims:    []experiment.Claim{{Says: "bun is faster", Metric: "rate", Of: &experiment.Selector{Cell: 1}, Above: new(float64)}},
	}, []Attempt{{Trial: 1, Cell: 0, Repeat: 1}})
	b.Skip("bun", "npm is not installed; install it")
	s := b.Summarize(summary.Experiment{}, record.Host{})
	wording.Fill(s)

	var warnings []summary.Finding
	for _, f := range s.Findings {
		if f.Level == "warning" {
			warnings = append(warnings, worded(f))
		} else if f.Cell == nil || *f.Cell != 0 {
			t.Errorf("a finding of a cell without trials: %+v", f)
		}
	}
	want := []summary.Finding{{Level: "warning", Title: "service bun was skipped", Text: "npm is not installed; install it"}}
	if d := cmp.Diff(want, warnings); d != "" {
		t.Error(d)
	}
	for i, flagged := range []bool{false, true, true} {
		if flags := s.Cells[i].Flags; slices.Contains(flags, "skipped") != flagged || flagged && slices.Contains(flags, "no_trials") {
			t.Errorf("cell %d has the flags %v", i, flags)
		}
	}
	if s.Cells[0].Objective.Outcome = summary.Met; s.Objective() != summary.Met {
		t.Error("what is not installed counts as a missed objective")
	}
	if c := s.Claims[0]; c.Verdict != summary.Inconclusive || !strings.Contains(c.Reason, "install it") {
		t.Errorf("the claim is %q: %q, want the reason of the skip", c.Verdict, c.Reason)
	}
}

func TestARunIsMissedByWhatWasTried(t *testing.T) {
	met, missed := &summary.Objective{Outcome: summary.Met}, &summary.Objective{Outcome: summary.Missed}
	near, unknown := &summary.Objective{Outcome: summary.TooClose}, &summary.Objective{Outcome: summary.Unknown}
	cell := func(o *summary.Objective, flags ...summary.Flag) summary.Cell {
		return summary.Cell{Objective: o, Flags: flags}
	}
	skipped := cell(unknown, "skipped")
	for _, c := range []struct {
		name  string
		cells []summary.Cell
		want  summary.Outcome
	}{
		{"no objective", []summary.Cell{cell(nil), cell(nil, "skipped")}, ""},
		{"all meet it", []summary.Cell{cell(met), cell(met)}, summary.Met},
		{"one misses it", []summary.Cell{cell(met), cell(missed), cell(near)}, summary.Missed},
		{"one is too close to tell", []summary.Cell{cell(met), cell(near)}, summary.TooClose},
		{"one could not be judged", []summary.Cell{cell(near), cell(unknown)}, summary.Unknown},
		{"one failed to run", []summary.Cell{cell(met), cell(unknown, "no_trials")}, summary.Unknown},
		{"one was skipped, the rest meets it", []summary.Cell{cell(met), skipped}, summary.Met},
		{"one was skipped, the rest misses it", []summary.Cell{skipped, cell(missed)}, summary.Missed},
		{"all were skipped", []summary.Cell{skipped, skipped}, summary.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (&summary.Summary{Cells: c.cells}).Objective(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
