// Package answer has what a command says first about a record, in three lines: what was
// found, why, and what to do. At most two caveats follow. Tables, figures and evidence are
// those of package report, which shows the answer above them.
//
// It computes no figure and tests nothing: package verdict does. A line that the record
// does not show is left out.
package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/narrative"
)

const (
	// fewNames is how many cells a line names before it gives the ends only.
	fewNames = 3
	// mostCaveats is how many caveats follow an answer.
	mostCaveats = 2
)

// Answer is what a record shows. A line that is not known is empty.
type Answer struct {
	What    string   // what was found, with its interval
	Why     string   // the cause, or what would decide it
	Do      string   // one action: a setting, a limit, a command, or nothing
	Caveats []string // what qualifies these, what changes the answer most first
}

// Of is the answer of a record.
func Of(s *summary.Summary) Answer {
	a := &asked{s: s, names: narrative.CellNames(s)}
	for i := range s.Cells {
		if !s.Cells[i].Failed() {
			a.good = append(a.good, i)
		}
	}
	answer := a.answer()
	if len(s.Claims) > 0 {
		answer = a.claims()
	}
	if e := &s.Experiment; e.Interrupted {
		answer.What = fmt.Sprintf("Interrupted after %d of %s. %s", e.TrialsDone, display.Counted(int64(e.TrialsPlanned), "trial"), answer.What)
	}
	answer.Caveats = a.caveats(answer)
	return answer.withKinds(a.about())
}

// OfLoad is the answer about one service, named for a sentence, under a load.
func OfLoad(c *summary.Cell, name string) Answer {
	s := &summary.Summary{Cells: []summary.Cell{*c}}
	a := &asked{s: s, names: []string{name}}
	answer := Answer{What: fmt.Sprintf("%s: no good answer to %s.", name, display.Counted(c.Requests, "request")), Why: worst(c)}
	if !c.Failed() {
		a.good = []int{0}
		answer = a.single(0)
	}
	answer.Caveats = a.caveats(answer)
	return answer.withKinds(a.about())
}

// asked is a record that is asked for its answer.
type asked struct {
	s     *summary.Summary
	names []string
	good  []int // cells that answered requests
}

func (a *asked) answer() Answer {
	switch kind := a.s.Kind(); {
	case len(a.s.Cells) == 0:
		return Answer{What: "The record holds no cell."}
	case kind == summary.KindSearch && a.s.Experiment.Server != nil && len(a.s.Experiment.Server.Settings) > 0:
		return newTried(a).answer()
	case kind == summary.KindSearch:
		return a.breaking()
	case kind == summary.KindBenchmark:
		return a.benchmarks()
	case len(a.good) == 0:
		return a.nothingAnswered()
	case kind == summary.KindRamp:
		return a.staged()
	case len(a.s.Cells) == 1:
		return a.single(0)
	case len(a.good) == 1:
		return a.single(a.good[0])
	}
	return a.latencies()
}

// Lines are the lines of the answer, without its caveats.
func (a Answer) Lines() []string {
	lines := []string{a.What}
	if a.Why != "" {
		lines = append(lines, "Why: "+a.Why)
	}
	if a.Do != "" {
		lines = append(lines, "Do: "+a.Do)
	}
	return lines
}

// String is the answer with its caveats on one line.
func (a Answer) String() string {
	return strings.Join(slices.Concat(a.Lines(), a.Caveats), " ")
}

// place is the index of a cell of the record.
func (a *asked) place(c *summary.Cell) int {
	for i := range a.s.Cells {
		if &a.s.Cells[i] == c {
			return i
		}
	}
	return 0
}

// latency writes a latency of a cell: "113 ms", "at least 10.0 s" where
// failed requests hide it.
func latency(v float64, atLeast bool) string {
	if atLeast {
		return "at least " + display.WithUnit(v)
	}
	return display.WithUnit(v)
}
