package facts

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/test/corpus"
	"github.com/millicore/millicore/test/testkit"
)

// examined is a record whose summary is examined.
type examined struct {
	*testing.T
	*recorded
	truth
	seed    uint64
	results results.Results
	summary *summary.Summary
	tally   *tally
}

// truth is what is known of a case by construction.
type truth struct {
	corpus.Truth
	metastable bool // it does not recover from an overload by itself
}

// tally has what chance allows: false rankings of identical cells, and intervals that miss
// the truth.
type tally struct {
	rankings  []string
	intervals int
	missed    []string
}

// wrong fails the test for a statement about a cell; nil: about the record.
func (e *examined) wrong(c *cell, format string, args ...any) {
	e.Helper()
	what := fmt.Sprintf(format, args...)
	if c != nil {
		what = c.label() + ": " + what
	}
	e.Errorf("seed %d: %s", e.seed, what)
}

// is compares a value of the summary with that of the record. nil is what was not
// measured, NaN and infinity what the record does not have.
func (e *examined) is(c *cell, what string, got *float64, want float64) {
	e.Helper()
	switch known := !math.IsNaN(want) && !math.IsInf(want, 0); {
	case got == nil && known:
		e.wrong(c, "%s is null, the record has %.6g", what, want)
	case got != nil && !known:
		e.wrong(c, "%s is %.6g, the record has none (%v)", what, *got, want)
	case got != nil && math.Abs(*got-want) > 1e-6*max(math.Abs(want), 1e-6):
		e.wrong(c, "%s is %.6g, the record has %.6g", what, *got, want)
	}
}

// counts compares numbers.
func (e *examined) counts(c *cell, what string, got, want int64) {
	e.Helper()
	if got != want {
		e.wrong(c, "%d %s, the record has %d", got, what, want)
	}
}

// within checks that a value lies between two ends.
func (e *examined) within(c *cell, what string, got, low, high float64) {
	e.Helper()
	if !(got >= low-1e-9*math.Abs(low) && got <= high+1e-9*math.Abs(high)) {
		e.wrong(c, "%s is %.6g, which is not within %.6g and %.6g", what, got, low, high)
	}
}

// ahead checks that the summary may place a cell before another. A false ranking of
// identical cells is counted, because chance allows some.
func (e *examined) ahead(x, y *cell) {
	e.Helper()
	if e.Identical {
		e.tally.rankings = append(e.tally.rankings, x.label()+" before "+y.label())
	}
	is := func(c *cell, name string) bool {
		return c.Service.Name == name || slices.ContainsFunc(c.Vary, func(v vary) bool { return v.Value != nil && *v.Value == name })
	}
	for _, pair := range e.Better {
		if is(y, pair[0]) && is(x, pair[1]) {
			e.wrong(x, "it is placed before %s, which is better by construction", y.label())
		}
	}
}

// seeds overrides the number of seeds of each case.
var seeds = flag.Int("seeds", 0, "how many seeds of each case; 0: as the size of the test has it")

// TestEachValueAgreesWithItsRecord compares the summary of each simulated record, and the
// numbers of its sentences, with the record's files and with the construction.
func TestEachValueAgreesWithItsRecord(t *testing.T) {
	n := uint64(testkit.Samples(1, 2, 20))
	if *seeds > 0 {
		n = uint64(*seeds)
	}
	ranked, falsely, intervals, outside := 0, 0, 0, 0
	for _, c := range corpus.Cases() {
		if only := os.Getenv("CASES"); only != "" && !slices.Contains(strings.Split(only, ","), c.Name) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			for seed := range n {
				e := open(t, &c, seed+1)
				e.examine()
				intervals += e.tally.intervals
				outside += len(e.tally.missed)
				if e.Identical {
					ranked++
					falsely += min(1, len(e.tally.rankings))
				}
				for _, what := range slices.Concat(e.tally.missed, e.tally.rankings) {
					t.Logf("seed %d: by chance: %s", e.seed, what)
				}
			}
		})
	}
	if most := mostWrong(intervals); outside > most {
		t.Errorf("%d of %d intervals of breaking points do not contain the truth; at 5%% it is at most %d", outside, intervals, most)
	}
	if most := mostWrong(ranked); falsely > most {
		t.Errorf("%d of %d records of identical cells rank them; at 5%% it is at most %d", falsely, ranked, most)
	}
}

// open simulates a case and reads its record twice: with code of its own, and as reports
// do.
func open(t *testing.T, c *corpus.Case, seed uint64) *examined {
	t.Helper()
	dir := filepath.Join(t.TempDir(), fmt.Sprint(c.Name, seed))
	defer os.RemoveAll(dir)
	if err := c.Write(dir, seed); err != nil {
		t.Fatal(err)
	}
	mangle(t, c.Name, dir)
	of, err := results.Open(record.Own, dir)
	if err != nil {
		t.Fatal(err)
	}
	e := &examined{T: t, recorded: read(t, dir), truth: truth{c.Truth(), c.Metastable}, seed: seed, results: of, summary: of.Summary, tally: &tally{}}
	if c.Limit != "" && len(e.Limits) == 0 {
		e.Limits = strings.Split(c.Limit, " or ")
	}
	return e
}

func (e *examined) examine() {
	e.Helper()
	for i, c := range e.Experiment.Cells {
		s := &e.summary.Cells[i]
		e.figures(c, s)
		e.trials(c, s)
		e.levels(c, s)
		e.tail(c, s)
		e.breaking(c, s)
		e.knee(c, s)
		e.flags(c, s)
		e.disturbance(c, s)
	}
	e.ranking()
	e.compared()
	e.numbers(e.sentences())
}

// quantile is the one that cells are ranked by: the objective's, or p99.
func (r *recorded) quantile() string {
	if o := r.Experiment.Objective; o != nil && o.Quantile != "" {
		return o.Quantile
	}
	return "p99"
}
