package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/test/corpus"
)

const searchAndCompare = `
name: search-and-compare
services:
  a: {command: [x, "${port}"]}
  b: {command: [x, "${port}"]}
limits: {cpu: "1"}
load: {request: {path: /}, find: breaking-point}
measure: {warmup: 1s, duration: 20s, common_load: {percent: 50, warmup: 1s, duration: 2s, repeats: 2}}
objective: {p99: 100ms}
`

// simulated is the platform that the simulated records are of.
type simulated struct{ *fake }

func (simulated) Name() string { return "local" }

// When all searches have ended, the cells are measured at a share of the lowest breaking
// point. A run that ended before is readable, and is resumed.
func TestTheSearchesAreFollowedByACommonLoad(t *testing.T) {
	synctest.Test(t, testTheSearchesAreFollowedByACommonLoad)
}

func testTheSearchesAreFollowedByACommonLoad(t *testing.T) {
	l, f, log := testLab(t, searchAndCompare, func(int, int) fakeLife { return fakeLife{} })
	l.Platform, l.Resume = simulated{f}, true
	searched := corpus.Case{Name: "test", File: searchAndCompare, Behaves: func(c *experiment.Cell, _ int) corpus.Behaviour {
		return corpus.Behaviour{Service: corpus.Service{Workers: 1, Work: corpus.Fixed(time.Duration(5+5*c.Index) * time.Millisecond)}}
	}}
	if err := searched.Write(l.Dir, l.Seed); err != nil {
		t.Fatal(err)
	}
	unfinished(t, l.Dir)
	before, err := results.Open(record.Own, l.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if e := before.Summary.Experiment; before.Summary.Common != nil || !e.Interrupted || e.TrialsDone != 2 || e.TrialsPlanned != 6 {
		t.Errorf("before the second part: %+v, want 2 of 6 trials, interrupted", e)
	}
	want, _, _ := verdict.CommonLoad(before.Summary, 0.5)
	if want < 30 || want > 60 {
		t.Fatalf("a common load of %v: the slower service holds about 100 requests/s", want)
	}

	for range 2 { // a finished run does not change
		if err := l.Run(t.Context()); err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
	}
	if d := cmp.Diff([]int{3, 4, 5, 6}, f.started); d != "" {
		t.Errorf("services were started for the trials %v", f.started)
	}
	after, err := results.Open(record.Own, l.Dir)
	if err != nil {
		t.Fatal(err)
	}
	s := after.Summary
	if s.Common == nil || s.Experiment.Interrupted || s.Experiment.TrialsDone != 6 || s.Experiment.TrialsPlanned != 6 {
		t.Fatalf("after the second part: %+v", s.Experiment)
	}
	for i := range s.Common.Cells {
		if c := &s.Common.Cells[i]; c.Load.Rate == nil || *c.Load.Rate != want || c.Trials != 2 || c.Label != s.Cells[i].Label || c.Breaking != nil {
			t.Errorf("%s: %+v in %d trials, want %v requests/s in 2", c.Label, c.Load, c.Trials, want)
		}
	}
}

// unfinished removes the end of a finished run.
func unfinished(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, record.TrialsFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	if err := os.WriteFile(path, []byte(strings.Join(lines[:len(lines)-1], "")), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestNoCommonLoadWithoutABreakingPoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, f, log := testLab(t, searchAndCompare, func(int, int) fakeLife { return fakeLife{} })
		l.Platform, l.Resume = simulated{f}, true
		slow := corpus.Case{Name: "test", File: searchAndCompare, Behaves: func(c *experiment.Cell, _ int) corpus.Behaviour {
			return corpus.Behaviour{Service: corpus.Service{Workers: 1, Work: corpus.Fixed(time.Duration(5+300*c.Index) * time.Millisecond)}}
		}}
		if err := slow.Write(l.Dir, l.Seed); err != nil {
			t.Fatal(err)
		}
		unfinished(t, l.Dir)
		if err := l.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := openRecord(t, l.Dir)
		if len(f.started) > 0 || !r.Finished || !strings.Contains(log.String(), "no breaking point of b") {
			t.Errorf("started %v, finished %v, log %q", f.started, r.Finished, log)
		}
	})
}
