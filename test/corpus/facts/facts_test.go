package facts

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/narrative"
	"github.com/millicore/millicore/internal/record"
	"github.com/millicore/millicore/internal/results"
	"github.com/millicore/millicore/test/corpus"
	"github.com/millicore/millicore/test/testkit"
)

var patterns = slices.Concat(rankings, constants, searching, reasons, tails, flags, tableCells, recovering, compared, triedPatterns)

// examined is a record whose statements are examined.
type examined struct {
	*recorded
	name     string
	truth    truth
	summary  *summary.Summary
	patterns compiled
	pair     [2]int // the cells of a comparison
	variants []narrative.Variant
	tally    *tally
}

// truth is what is known of a case by construction.
type truth struct {
	corpus.Truth
	metastable bool // it does not recover from an overload by itself
}

// ahead checks a claim that x is better than y. A false one about identical cells is
// counted, because chance allows some.
func (t truth) ahead(e *examined, x, y *cell) error {
	if t.Identical {
		e.tally.wrong(x.label() + " before " + y.label())
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
func (t truth) within(e *examined, c *cell, load string, low, high float64) error {
	if t.Breaks[1] == 0 {
		return nil
	}
	e.tally.intervals++
	if high < t.Breaks[0] || low > t.Breaks[1] {
		e.tally.missed = append(e.tally.missed, fmt.Sprintf("%s (%.4g to %.4g): by construction it breaks at %.4g to %.4g", load, low, high, t.Breaks[0], t.Breaks[1]))
	}
	if high < t.Breaks[0]*0.93 || low > t.Breaks[1]*1.07 {
		return fmt.Errorf("%s (%.4g to %.4g): by construction it breaks at %.4g to %.4g", load, low, high, t.Breaks[0], t.Breaks[1])
	}
	return nil
}

// tally has what chance allows: false rankings of identical cells, and intervals that miss
// the truth.
type tally struct {
	rankings  []string
	intervals int
	missed    []string
}

func (t *tally) wrong(what string) { t.rankings = append(t.rankings, what) }

// counted is how many of some records are wrong.
type counted struct{ records, wrong int }

// seeds overrides the number of seeds of each case.
var seeds = flag.Int("seeds", 0, "how many seeds of each case; 0: as the size of the test has it")

// TestEveryStatementAgreesWithItsRecord renders all statements about each simulated
// record and compares them with the record's files and with the construction.
func TestEveryStatementAgreesWithItsRecord(t *testing.T) {
	n := uint64(testkit.Samples(1, 2, 20))
	if *seeds > 0 {
		n = uint64(*seeds)
	}
	var falsely, outside counted
	for _, c := range corpus.Cases() {
		if len(only()) > 0 && !slices.Contains(only(), c.Name) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			for seed := range n {
				e := examine(t, &c, seed+1)
				outside.records += e.tally.intervals
				outside.wrong += len(e.tally.missed)
				for _, what := range e.tally.missed {
					t.Logf("seed %d: %s", seed+1, what)
				}
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
	if !t.Failed() && n > 1 && len(only()) == 0 {
		shrink(t)
	}
	if most := mostWrong(outside.records); outside.wrong > most {
		t.Errorf("%d of %d intervals of breaking points do not contain the truth; at 5%% it is at most %d", outside.wrong, outside.records, most)
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
	defer os.RemoveAll(dir)
	if err := c.Write(dir, seed); err != nil {
		t.Fatal(err)
	}
	mangle(t, c.Name, dir)
	of, err := results.Open(record.Own, dir)
	if err != nil {
		t.Fatal(err)
	}
	e := &examined{recorded: read(t, dir), name: c.Name, truth: truth{c.Truth(), c.Metastable}, summary: of.Summary, tally: &tally{}}
	if c.Limit != "" && len(e.truth.Limits) == 0 {
		e.truth.Limits = strings.Split(c.Limit, " or ")
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
	for _, two := range contradictions(all) {
		if expected(e.name, two[0]) == "" && expected(e.name, two[1]) == "" {
			t.Errorf("seed %d: these exclude each other:\n\t%v\n\t%v", seed, two[0], two[1])
		}
	}
	return e
}

// excluding are pairs of statements about one cell, or about the record, that exclude each
// other.
var excluding = [][2]string{
	{`^limited by: (?:cpu limit|throttling)`, `^(?:[<>]?[\d.]+% (?:waiting in the generator|the dependency|CPU used by others|restarts and memory pressure), )*[<>]?[\d.]+% queueing and work$`},
	{`^[^,]+ has the lowest p99`, `^No significant difference in p99`},
	{`limited by its CPU limit`, `(?:neither|none) is throttled`},
	{`too few trials`, `[Ss]ignificantly`},
}

// contradictions are the pairs of statements that exclude each other.
func contradictions(all []statement) (found [][2]statement) {
	for _, pair := range excluding {
		a, b := regexp.MustCompile(pair[0]), regexp.MustCompile(pair[1])
		for _, x := range all {
			for _, y := range all {
				if x.where != "compare" && y.where != "compare" && x.about == y.about && a.MatchString(x.text) && b.MatchString(y.text) {
					found = append(found, [2]statement{x, y})
				}
			}
		}
	}
	return found
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
