package facts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/front/compare"
	"github.com/millicore/millicore/internal/show/answer"
	"github.com/millicore/millicore/internal/show/narrative"
	"github.com/millicore/millicore/internal/show/report"
	"github.com/millicore/millicore/internal/show/report/text"
)

// sentence is a text of a report about some cells.
type sentence struct {
	text  string
	about []int // indices in the summary; nil: those that the text names, or all
}

// sentences are all texts about a record.
func (e *examined) sentences() (all []sentence) {
	add := func(about []int, texts ...string) {
		for _, text := range texts {
			all = append(all, sentence{text, about})
		}
	}
	first := answer.Of(e.summary)
	for _, paragraph := range append(first.Lines(), first.Caveats...) {
		add(nil, strings.Split(paragraph, "; ")...)
	}
	for i := range e.summary.Cells {
		c, own := &e.summary.Cells[i], []int{i}
		for _, f := range narrative.Explained(c) {
			add(own, f.Text)
		}
		add(own, narrative.CausesLine(c))
		if c.Causes != nil {
			add(own, narrative.TailBasis(c.Causes))
		}
		for _, flag := range c.Flags {
			add(own, narrative.FlagText(flag, c))
		}
	}
	for _, f := range e.summary.Findings {
		if f.Cell != nil {
			add([]int{e.summary.CellAt(*f.Cell)}, f.Title, f.Text)
			continue
		}
		add(nil, f.Title, f.Text)
	}
	add(nil, narrative.Untested(e.summary))
	rep := report.New(e.summary)
	for _, col := range rep.Cells.Columns {
		for row, one := range col.Cells {
			if col.Kind != report.Picture && col.Kind != report.Flags {
				add([]int{rep.Cells.About[row]}, one.Text+" "+col.Unit, one.Note)
			}
		}
	}
	if len(e.summary.Cells) > 1 {
		r, err := compare.Compare([]compare.Match{{A: e.side(0), B: e.side(1)}}, true)
		if err != nil {
			e.Fatal(err)
		}
		for i := range r.Pairs[0].Rows {
			add([]int{0, 1}, narrative.Difference{Difference: &r.Pairs[0].Rows[i]}.Sentence())
		}
	}
	var shown bytes.Buffer
	if err := text.Terminal(&shown, rep.Blocks(), display.Terminal{}); err != nil || !strings.Contains(strings.Join(strings.Fields(shown.String()), " "), first.What) {
		e.wrong(nil, "the report has another answer than %q (%v)", first.What, err)
	}
	return all
}

// leader checks which cell an answer names first: the one that lies before all others,
// significantly, and has the lowest figure (or the highest breaking point). No other has
// "the lowest".
func (e *examined) leader() {
	names, lead := narrative.CellNames(e.summary), -1
	tested := map[int]bool{}
	for i := range e.summary.Cells {
		ahead, behind := 0, 0
		for _, v := range e.summary.Ranking {
			sign := v.Sign
			switch i {
			case v.Cell:
			case v.Other:
				sign = -sign
			default:
				continue
			}
			if v.Basis == summary.Untested || !available(&e.summary.Cells[v.Cell]) || !available(&e.summary.Cells[v.Other]) {
				continue
			}
			if tested[i] = true; e.searchedFor() == (sign > 0) && sign != 0 {
				ahead++
			} else {
				behind++
			}
		}
		if ahead > 0 && behind == 0 {
			lead = i
		}
	}
	what := answer.Of(e.summary).What
	someOf := regexp.MustCompile(`^Of \d+ of \d+ cells, `) // if others disturbed one
	for i, name := range names {
		label := e.summary.Cells[i].Label
		first := strings.HasPrefix(someOf.ReplaceAllString(what, ""), name+" has the lowest ") || e.searchedFor() && (strings.HasPrefix(what, name+" ") || strings.HasPrefix(what, label+" ")) && len(tested) > 1
		switch {
		case first && i != lead:
			e.wrong(e.Experiment.Cells[i], "%q, and it is not ahead of all others", what)
		case !first && i == lead:
			e.wrong(e.Experiment.Cells[i], "it is ahead of all others, and the answer is %q", what)
		}
	}
	near := slices.ContainsFunc(e.Experiment.Cells, func(c *cell) bool {
		s := &e.summary.Cells[c.Index]
		return s.Objective != nil && s.Objective.Met != nil && s.Breaking == nil && len(c.staged()) == 0 && !c.Load.Find &&
			(c.undecided(s.Objective.LateAtMost) && len(c.trials) > 1 || float64(s.Requests)*(1-summary.QuantileShare(s.Quantile())) < 10)
	})
	whole := answer.Of(e.summary).String()
	if stated := strings.Contains(strings.ToLower(whole), "too close to"); stated && !near {
		e.wrong(nil, "%q, and no interval contains the objective", whole)
	}
}

// available reports whether a cell answered enough for its latency to be ranked.
func available(c *summary.Cell) bool { return c.Availability == nil || *c.Availability >= 99 }

// written is a number of a text with half a unit of its last digit. Latencies are in ms.
type written struct {
	text, unit  string
	value, half float64
}

var (
	numberOf  = regexp.MustCompile(`[<>]?(\d[\d,]*(?:\.\d+)?)( ?%| ms| s| MiB)?`)
	minutesOf = regexp.MustCompile(`(\d+) min(?: (\d+) s)?`)
	rangeOf   = regexp.MustCompile(`([\d.]+) to ([\d.]+) s\b`)
)

// numbersOf are the numbers of a text.
func numbersOf(text string) (all []written) {
	text = minutesOf.ReplaceAllStringFunc(text, func(at string) string {
		var minutes, seconds int
		_, _ = fmt.Sscanf(at, "%d min %d s", &minutes, &seconds)
		return fmt.Sprintf("%d s", 60*minutes+seconds)
	})
	text = rangeOf.ReplaceAllString(text, "$1 s to $2 s") // both ends have the unit
	for _, m := range numberOf.FindAllStringSubmatch(text, -1) {
		digits := strings.ReplaceAll(strings.TrimRight(m[1], ","), ",", "")
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			continue
		}
		half := 0.5
		if _, decimals, ok := strings.Cut(digits, "."); ok {
			half /= math.Pow(10, float64(len(decimals)))
		}
		one := written{m[0], strings.TrimSpace(m[2]), v, half}
		switch one.unit {
		case "s":
			one.value, one.half = 1000*v, 1000*half
		case "MiB":
			one.value, one.half = v*(1<<20), half*(1<<20)
		}
		all = append(all, one)
	}
	return all
}

// nothing are parts of texts whose digits are no figures: names of quantiles and
// intervals, and settings.
var nothing = regexp.MustCompile(`p\d[\d.]*\d|95%:? interval|95%:|\S+=\S*|--repeats 6|less than 5% of its CPUs|kubelet waits 10 s|\S+m CPU|(?:^|[^\d.])\d CPUs?\b|\w+/\d+|v\d`)

// numbers checks that each number of a text is a figure of the cells that it is about.
func (e *examined) numbers(all []sentence) {
	names := narrative.CellNames(e.summary)
	record := e.recordFigures()
	own := make([][]float64, len(e.summary.Cells))
	for i := range own {
		own[i] = e.cellFigures(i)
	}
	for _, s := range all {
		about := s.about
		for i := range names {
			if s.about == nil && (strings.Contains(s.text, names[i]) || strings.Contains(s.text, e.summary.Cells[i].Label)) {
				about = append(about, i)
			}
		}
		if about == nil {
			for i := range names {
				about = append(about, i)
			}
		}
		figures := slices.Clone(record)
		for _, i := range about {
			figures = append(figures, own[i]...)
		}
		e.among(s.text, figures)
	}
}

// among checks that each number of a text is one of some figures. A whole number up to most
// needs none: trials, cells, searches.
func (e *examined) among(text string, figures []float64) {
	e.Helper()
	const most = 24
	names, plain := narrative.CellNames(e.summary), text
	for i := range names {
		for _, name := range []string{e.summary.Cells[i].Label, names[i]} {
			plain = regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).ReplaceAllString(plain, "…")
		}
		if o := e.summary.Cells[i].Objective; o != nil {
			plain = strings.ReplaceAll(plain, o.Text, "…")
		}
	}
	for _, n := range numbersOf(nothing.ReplaceAllString(plain, "…")) {
		if (n.unit != "" || n.value > most || n.half < 0.5) && !slices.ContainsFunc(figures, n.is) {
			e.wrong(nil, "%q: %s is no figure of the cells that it is about", text, n.text)
		}
	}
}

// is reports whether a figure is written like this. Availability is rounded down.
func (n written) is(v float64) bool {
	v = math.Abs(v)
	if strings.HasPrefix(n.text, "<") || strings.HasPrefix(n.text, ">") {
		return v > 0 && (n.text[0] == '<') == (v < (n.value+n.half)/100)
	}
	scales := []float64{1, 100, 1.0 / (1 << 20)}
	switch n.unit {
	case "%":
		scales = []float64{1, 100}
	case "ms":
		scales = []float64{1, 1e-3}
	case "s":
		scales = []float64{1, 1e3, 1e-3}
	}
	return slices.ContainsFunc(scales, func(scale float64) bool {
		return math.Abs(v*scale-n.value) <= n.half*1.001+1e-9*n.value || n.unit == "%" && v*scale >= n.value && v*scale < n.value+2*n.half
	})
}

// figuresOf are all numbers of a value as JSON has it, also those within its texts, and
// of an object those by their names.
func figuresOf(t *testing.T, v any) (all []float64, named map[string]float64) {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	named = map[string]float64{}
	var walk func(string, any)
	walk = func(name string, v any) {
		switch v := v.(type) {
		case float64:
			all, named[name] = append(all, v), v
		case string:
			for _, n := range numbersOf(v) {
				all = append(all, n.value)
			}
		case []any:
			for _, one := range v {
				walk("", one)
			}
		case map[string]any:
			for name, one := range v {
				walk(name, one)
			}
		}
	}
	walk("", tree)
	return all, named
}

// cellFigures are the figures of a cell, and what texts make of them: medians over trials
// with their ends, shares, sums and ends of shares.
func (e *examined) cellFigures(i int) []float64 {
	c, s := e.Experiment.Cells[i], &e.summary.Cells[i]
	all, _ := figuresOf(e.T, s)
	all = append(all, float64(s.Errors.Sum()))
	share := s.ThrottledShare()
	if share != nil {
		all = append(all, *share)
	}
	if s.Availability != nil {
		low, high := proportion(c)
		all = append(all, 100-*s.Availability, 100*(1-low), 100*(1-high))
	}
	if k := s.Causes; k != nil {
		all = append(all, k.OfGenerator(), k.Rest-(k.ThrottlingHigh-k.Throttling))
	}
	if o := c.objective; o != nil {
		all = append(all, float64(c.all().late(o.Latency))/float64(c.all().requests()))
	}
	for _, f := range s.Errors.Failures() {
		all = append(all, float64(f.N))
	}
	byField := map[string][]float64{}
	for k := range s.PerTrial {
		_, fields := figuresOf(e.T, s.PerTrial[k])
		for name, v := range fields {
			byField[name] = append(byField[name], v)
		}
	}
	for _, q := range quantiles { // a failed request is infinitely late
		byField["all "+q] = c.values(quantileOf(q))
	}
	for _, values := range byField {
		low, high, _ := medianEnds(values)
		if all = append(all, median(values), low, high); len(values) > 0 {
			all = append(all, slices.Min(values), slices.Max(values))
		}
	}
	return all
}

// recordFigures are those of the whole record: of pairs of cells, of the experiment, and
// the effect of disturbances.
func (e *examined) recordFigures() []float64 {
	all, _ := figuresOf(e.T, []any{e.summary.Ranking, e.summary.Comparisons})
	all = append(all, 10/(1-shareOf(e.quantile())), float64(e.summary.Experiment.TrialsDone), float64(e.summary.Experiment.TrialsPlanned))
	requests, effects := int64(0), []float64(nil)
	for i := range e.summary.Cells {
		a := &e.summary.Cells[i]
		requests += a.Requests
		for k := range e.summary.Cells {
			if b := &e.summary.Cells[k]; a.Breaking != nil && b.Breaking != nil && a.Breaking.Load() != nil && b.Breaking.Load() != nil {
				all = append(all, *a.Breaking.Load() / *b.Breaking.Load())
			}
		}
		if d := a.Disturbance; d != nil {
			for _, x := range d.Quiet {
				for _, y := range d.Noisy {
					effects = append(effects, y-x)
				}
			}
		}
	}
	all = append(append(all, effects...), median(effects)) // within cells, and the ends of their interval
	if len(e.summary.Cells) > 1 {
		r, err := compare.Compare([]compare.Match{{A: e.side(0), B: e.side(1)}}, true)
		if err != nil {
			e.Fatal(err)
		}
		figures, _ := figuresOf(e.T, r.Pairs[0].Rows)
		all = append(all, figures...)
		for i := range r.Pairs[0].Rows {
			d := &r.Pairs[0].Rows[i]
			for _, v := range []*float64{d.Shift, d.Low, d.High} { // how far B lies from A, in percent and in times
				if v != nil && d.A != nil && *d.A != 0 {
					all = append(all, 100**v / *d.A, (*d.A+math.Abs(*v)) / *d.A)
				}
			}
			if d.A != nil && d.B != nil && *d.A != 0 {
				all = append(all, *d.B-*d.A, 100*(*d.B-*d.A) / *d.A, *d.B / *d.A)
			}
		}
	}
	return append(all, float64(requests))
}

func TestNumbersAreReadWithTheirPrecision(t *testing.T) {
	for text, want := range map[string][2]float64{"9.17 ms": {9.17, 0.005}, "1.46 s": {1460, 5}, "2,001": {2001, 0.5}, "−0.3%": {0.3, 0.05}, ">99%": {99, 0.5}} {
		n := numbersOf(text)
		if len(n) != 1 || math.Abs(n[0].value-want[0]) > 1e-9 || math.Abs(n[0].half-want[1]) > 1e-9 {
			t.Errorf("%s: %v, want %v", text, fmt.Sprint(n), want)
		}
	}
	if n := numbersOf("9.17 ms")[0]; n.is(9.18) || !n.is(9.174) {
		t.Error("a figure that is rounded differs from one that is wrong")
	}
}
