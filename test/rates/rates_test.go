package main

import (
	"math"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/test/corpus"
)

// One service is searched, put under a constant load, and compared with itself. None of what
// is stated about a plain one is false: it breaks where it does, and its threads limit it.
func TestAServiceIsJudged(t *testing.T) {
	scratch = t.TempDir()
	for _, w := range ways {
		all, err := w.of(kinds[1], 7)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) == 0 {
			t.Errorf("%s: nothing was stated", w.name)
		}
		for _, s := range all {
			if s.False && w.name == "search" {
				t.Errorf("%s: %s", s.What, s.Text)
			}
		}
	}
}

// The long runs find the breaking point of an M/M/1 queue of 200/s with a p99 of 100 ms,
// which is 200 - ln 100 / 0.1 s.
func TestALongRunFindsTheTruth(t *testing.T) {
	e, err := file.Parse("x.yaml", []byte("name: x\n"+alone+"load: {request: {path: /}, rate: 1}\nobjective: {p99: 100ms}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := truth{cell: &e.Cells[0], goal: objective.Of(e, &e.Cells[0]), seed: 1,
		behaviour: corpus.Behaviour{Service: corpus.Service{Workers: 1, Work: corpus.Exponential(5 * time.Millisecond)}}}
	want := 200 - math.Log(100)/0.1
	if b := s.breaks(120); b.missesAt(0.95*want) || b.meetsAt(1.05*want) {
		t.Errorf("it breaks between %.4g and %.4g, want %.4g", b.From, b.To, want)
	}
}
