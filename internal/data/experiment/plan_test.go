package experiment_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millicore/millicore/internal/data/experiment"
)

func TestPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cells := rapid.IntRange(1, 20).Draw(t, "cells")
		repeats := rapid.IntRange(1, 9).Draw(t, "repeats")
		seed := rapid.Uint64().Draw(t, "seed")
		e := &experiment.Experiment{
			Cells:   make([]experiment.Cell, cells),
			Measure: experiment.Measure{Repeats: repeats},
		}
		plan := e.Plan(seed)

		if diff := cmp.Diff(plan, e.Plan(seed)); diff != "" {
			t.Fatalf("the same seed gave another plan:\n%s", diff)
		}
		if len(plan) != cells*repeats {
			t.Fatalf("%d trials, want %d", len(plan), cells*repeats)
		}
		all := make([]int, cells)
		for i := range all {
			all[i] = i
		}
		var before []int
		for round := range repeats {
			var order []int
			for i, trial := range plan[round*cells : (round+1)*cells] {
				if want := round*cells + i + 1; trial.Number != want || trial.Repeat != round+1 {
					t.Fatalf("trial %+v stands at number %d, repeat %d", trial, want, round+1)
				}
				order = append(order, trial.Cell)
			}
			if sorted := slices.Sorted(slices.Values(order)); !slices.Equal(sorted, all) {
				t.Fatalf("round %d is no permutation of the cells: %v", round, order)
			}
			// Every second round mirrors the one before, so that a steady
			// drift falls on all cells alike.
			if backwards := slices.Clone(order); round%2 == 1 {
				slices.Reverse(backwards)
				if !slices.Equal(backwards, before) {
					t.Fatalf("round %d is %v, not the mirror of %v", round, order, before)
				}
			}
			before = order
		}
	})
}

func TestPlansOfOtherSeedsDiffer(t *testing.T) {
	e := &experiment.Experiment{Cells: make([]experiment.Cell, 10), Measure: experiment.Measure{Repeats: 6}}
	if cmp.Equal(e.Plan(1), e.Plan(2)) {
		t.Error("seeds 1 and 2 give the same order of 60 trials")
	}
}

// A record names its seed: the plan must be the same in every version.
func TestPlanOfAKnownSeed(t *testing.T) {
	e := &experiment.Experiment{Cells: make([]experiment.Cell, 4), Measure: experiment.Measure{Repeats: 3}}
	var got []int
	for _, trial := range e.Plan(7) {
		got = append(got, trial.Cell)
	}
	if diff := cmp.Diff([]int{3, 1, 0, 2, 2, 0, 1, 3, 3, 2, 0, 1}, got); diff != "" {
		t.Errorf("order of the cells (-want +got):\n%s", diff)
	}
}

func TestTrialsOfAServiceThatIsKeptFollowOneAnother(t *testing.T) {
	e := &experiment.Experiment{Cells: make([]experiment.Cell, 3), Measure: experiment.Measure{Repeats: 4, Kept: true}}
	plan := e.Plan(7)
	var cells []int
	for i, trial := range plan {
		if trial.Number != i+1 || trial.Repeat != i%4+1 {
			t.Errorf("trial %+v stands at %d", trial, i+1)
		}
		if i%4 == 0 {
			cells = append(cells, trial.Cell)
		} else if trial.Cell != cells[len(cells)-1] {
			t.Errorf("trial %+v stands among those of cell %d", trial, cells[len(cells)-1])
		}
	}
	if slices.Sort(cells); !slices.Equal(cells, []int{0, 1, 2}) || len(plan) != 12 {
		t.Errorf("%d trials of the cells %v", len(plan), cells)
	}
}
