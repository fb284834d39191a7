package facts

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/corpus"
	"github.com/millicore/millicore/internal/narrative"
	"github.com/millicore/millicore/internal/results"
	"github.com/millicore/millicore/internal/testkit"
)

var patterns = slices.Concat(rankings, constants, searching, reasons, tails, flags, tableCells, compared, triedPatterns)

// examined is a record whose statements are examined.
type examined struct {
	*recorded
	name     string
	truth    truth
	summary  *analysis.Summary
	patterns compiled
	pair     [2]int // the cells of a comparison
	variants []narrative.Variant
	tally    *tally
}

// truth is what is known of a case by construction.
type truth struct{ corpus.Truth }

// ahead checks a claim that x is better than y. A false one about identical cells is
// counted, because chance allows some.
func (t truth) ahead(e *examined, x, y *cell) error {
	if t.Identical {
		e.tally.wrong(e.name, x.label()+" before "+y.label())
		return nil
	}
	is := func(c *cell, name string) bool {
		return slices.Contains(c.aliases(), name) || slices.Contains(c.aliases(), "v="+name)
	}
	for _, pair := range t.Better {
		if is(y, pair[0]) && is(x, pair[1]) {
			return fmt.Errorf("by construction %s is better than %s", y.label(), x.label())
		}
	}
	return nil
}

// within checks an interval of a breaking point. One in twenty may miss the truth, but
// not by far.
func (t truth) within(c *cell, load string, low, high float64) error {
	if t.Breaks[1] == 0 {
		return nil
	}
	if high < t.Breaks[0]*0.93 || low > t.Breaks[1]*1.07 {
		return fmt.Errorf("%s (%.4g to %.4g): by construction it breaks at %.4g to %.4g", load, low, high, t.Breaks[0], t.Breaks[1])
	}
	return nil
}

// tally counts the false rankings of identical cells, by case.
type tally struct{ rankings map[string][]string }

func (t *tally) wrong(name, what string) { t.rankings[name] = append(t.rankings[name], what) }

// wrongOf counts the records of a case that state a false ranking.
type counted struct{ records, wrong int }

// TestEveryStatementAgreesWithItsRecord renders all statements about each simulated
// record and compares them with the record's files and with the construction.
func TestEveryStatementAgreesWithItsRecord(t *testing.T) {
	seeds := uint64(testkit.Samples(1, 1, 20))
	falsely := counted{}
	for _, c := range corpus.Cases() {
		if len(only()) > 0 && !slices.Contains(only(), c.Name) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			for seed := range seeds {
				e := examine(t, &c, seed+1)
				if e.truth.Identical {
					falsely.records++
					if len(e.tally.rankings) > 0 {
						falsely.wrong++
						t.Logf("seed %d: false ranking: %v", seed+1, e.tally.rankings)
					}
				}
			}
		})
	}
	if !t.Failed() && len(only()) == 0 {
		shrink(t)
	}
	if most := mostWrong(falsely.records); falsely.wrong > most {
		t.Errorf("%d of %d records of identical cells rank them; at 5%% it is at most %d", falsely.wrong, falsely.records, most)
	}
}

// only are the cases to examine, as a person wants while looking at one; nil: all.
func only() []string {
	if text := os.Getenv("CASES"); text != "" {
		return strings.Split(text, ",")
	}
	return nil
}

// mostWrong is the number of false rankings that 5% exceed with a probability of 1 in
// 1,000.
func mostWrong(n int) int {
	below, k := 0.0, 0
	for ; k < n; k++ {
		below += choose(n, k) * math.Pow(0.05, float64(k)) * math.Pow(0.95, float64(n-k))
		if below > 0.999 {
			break
		}
	}
	return k
}

// examine simulates a case and examines all statements about its record.
func examine(t *testing.T, c *corpus.Case, seed uint64) *examined {
	t.Helper()
	dir := filepath.Join(t.TempDir(), fmt.Sprint(c.Name, seed))
	if err := c.Write(dir, seed); err != nil {
		t.Fatal(err)
	}
	mangle(t, c.Name, dir)
	of, err := results.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	e := &examined{recorded: read(t, dir), name: c.Name, truth: truth{c.Truth()}, summary: of.Summary, tally: &tally{map[string][]string{}}}
	if c.Limit != "" && len(e.truth.Limits) == 0 {
		e.truth.Limits = []string{c.Limit}
	}
	e.patterns = compileAll(e.recorded)
	all := say(e.recorded, of.Summary)
	if len(e.Experiment.Cells) > 1 {
		e.pair = [2]int{0, 1}
		all = append(all, comparison(t, of, 0, 1)...)
	}
	terminal, markdown := texts(t, of.Summary)
	h := narrative.HeadlineOf(of.Summary)
	for _, text := range []string{terminal, strings.ReplaceAll(markdown, `\`, "")} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), h.First()) {
			t.Errorf("seed %d: the report has another answer than %q", seed, h.First())
		}
	}
	e.check(t, seed, all)
	os.RemoveAll(dir)
	return e
}

func (e *examined) check(t *testing.T, seed uint64, all []statement) {
	t.Helper()
	for _, s := range all {
		for _, err := range e.examine(s) {
			if why := expected(e.name, s); why != "" {
				t.Logf("seed %d: expected (%s): %v: %v", seed, why, s, err)
				continue
			}
			if errors.Is(err, errUnknown) {
				t.Errorf("seed %d: %v\n\tadd a pattern with a check: %v", seed, s, err)
			} else {
				t.Errorf("seed %d: %v\n\t%v", seed, s, err)
			}
		}
	}
}
