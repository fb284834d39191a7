package narrative

import (
	"fmt"
	"math"
	"strings"

	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
)

// ComparedPair is a pair of cells by the metric that the comparison is about.
type ComparedPair struct {
	Name string              // of the cell of B
	Main *verdict.Difference // nil: measured on neither side
}

// Compared is the answer of a comparison in one sentence, and what was missing for a test;
// "": the metric was tested.
func Compared(metric string, pairs []ComparedPair) (said, gap string) {
	if len(pairs) == 1 {
		d := pairs[0].Main
		if d == nil {
			m, _ := verdict.MetricOf(metric)
			return "No " + m.Words + " was measured on either side", ""
		}
		if d.Untested() {
			gap = Difference{d}.tooFew()
		}
		return Difference{d}.said(), gap
	}
	said, gap = comparedPairs(subject(metric), pairs)
	return display.Capital(said), gap
}

// Whole joins an answer and what was missing for a test.
func Whole(said, gap string) string {
	if gap == "" {
		return said
	}
	return said + ": " + gap
}

// comparedPairs is the answer for several pairs: in how many of them the metric
// differs, and the pair in which it differs most.
func comparedPairs(words string, pairs []ComparedPair) (said, gap string) {
	var higher, lower, decided int
	var most *verdict.Difference
	var where string
	for _, p := range pairs {
		d := p.Main
		if d == nil || d.Verdict == verdict.OneSided || d.Untested() {
			continue
		}
		decided++
		switch d.Verdict {
		case verdict.Higher:
			higher++
		case verdict.Lower:
			lower++
		default:
			continue
		}
		if most == nil || d.Size() > most.Size() {
			most, where = d, p.Name
		}
	}
	switch {
	case decided == 0:
		return fmt.Sprintf("%s was not tested in any of %d cells", words, len(pairs)), undecided(pairs)
	case most == nil && decided < len(pairs):
		return fmt.Sprintf("No significant difference in %s in %d of %d cells; the others were not tested", words, decided, len(pairs)), ""
	case most == nil:
		return fmt.Sprintf("No significant difference in %s in any of %d cells", words, len(pairs)), ""
	}
	in := fmt.Sprintf("higher in B in %d and lower in %d", higher, lower)
	if lower == 0 {
		in = fmt.Sprintf("higher in B in %d", higher)
	} else if higher == 0 {
		in = fmt.Sprintf("lower in B in %d", lower)
	}
	return fmt.Sprintf("%s is %s of %d cells, most in %s: %s", words, in, len(pairs), where, Difference{most}.fromTo()), ""
}

// undecided is what the first undecided pair lacks.
func undecided(pairs []ComparedPair) string {
	for _, p := range pairs {
		if p.Main != nil && p.Main.Untested() {
			return Difference{p.Main}.tooFew()
		}
	}
	return "it was not measured on both sides"
}

// subject is a metric at the beginning of a sentence: "p99", "the rate".
func subject(metric string) string {
	m, _ := verdict.MetricOf(metric)
	switch metric {
	case "rate", verdict.BreakingPointMetric:
		return "the " + m.Words
	case "throttled":
		return "the share of throttled periods"
	}
	return m.Words
}

// Difference words the difference of one metric between A and B.
type Difference struct{ *verdict.Difference }

// Sentence is what a difference shows: "p99 is 58% lower in B: 1,025 → 421 ms (95% interval
// −1,072 to −313 of the shift)".
func (d Difference) Sentence() string {
	if d.Untested() {
		return Whole(d.said(), d.tooFew())
	}
	return d.said()
}

// said is the same without what was missing for a test.
func (d Difference) said() string {
	words := subject(d.Metric)
	switch d.Verdict {
	case verdict.OneSided:
		side, value := "A", d.Left()
		if d.A == nil {
			side, value = "B", d.Right()
		}
		return display.Capital(fmt.Sprintf("%s was measured in %s only: %s", words, side, value+d.unit()))
	case verdict.TooFew, verdict.Withheld:
		return display.Capital(fmt.Sprintf("%s is %s in A and %s in B (not tested)", words, d.Left(), d.Right()+d.unit()))
	case verdict.Alike:
		return fmt.Sprintf("No significant difference in %s: %s (%s)", words, d.medians(), d.why())
	}
	return display.Capital(fmt.Sprintf("%s is %s in B: %s", words, d.HowMuch(), d.fromTo()))
}

// HowMuch is how far B lies from A: "3.9 times as high", "38% lower", "1.2 points lower",
// "at least 20% higher". It follows from the medians, which stand beside it, and from the
// shift where a bound hides one of them.
func (d Difference) HowMuch() string {
	way, bound := string(d.Verdict), ""
	if d.Verdict == verdict.Higher && d.AtLeast[1] || d.Verdict == verdict.Lower && d.AtLeast[0] {
		bound = "at least "
	}
	shift := d.Shift
	if bound == "" && shift != nil && d.A != nil && d.B != nil {
		medians := *d.B - *d.A
		shift = &medians
	}
	if shift == nil { // failed requests or bounds hide a side: the nearer end is what is known
		if shift = d.Low; d.Verdict == verdict.Lower {
			shift = d.High
		}
		if shift == nil && bound != "" { // or the bound itself
			figures := *d.B - *d.A
			shift = &figures
		}
		bound = "at least "
	}
	if shift == nil || (*shift > 0) != (d.Verdict == verdict.Higher) {
		return way
	}
	size := math.Abs(*shift)
	switch {
	case d.UnitName() == "%":
		return fmt.Sprintf("%s%s points %s", bound, display.Fixed(size*d.Scale(), d.places()), way)
	case *d.A == 0:
		return bound + way
	case d.Verdict == verdict.Higher && size >= *d.A:
		return fmt.Sprintf("%s%s times as high", bound, twoDigits((*d.A+size) / *d.A))
	}
	return fmt.Sprintf("%s%s%% %s", bound, twoDigits(100*size / *d.A), way)
}

// twoDigits writes 3.9, 12.
func twoDigits(v float64) string {
	if v >= 10 {
		return display.Fixed(v, 0)
	}
	return display.Fixed(v, 1)
}

// fromTo writes both sides, and the interval of the shift if it has one.
func (d Difference) fromTo() string {
	text := fmt.Sprintf("%s → %s%s", d.Left(), d.Right(), d.unit())
	if d.Low == nil && d.High == nil { // failed requests make the shift infinite
		return text
	}
	return fmt.Sprintf("%s (95%% interval %s)", text, d.Ends())
}

// medians writes both sides. Those of a lower bound, or of few searches, are no
// medians.
func (d Difference) medians() string {
	text := fmt.Sprintf("%s in A, %s in B", d.Left()+d.unit(), d.Right()+d.unit())
	if d.Censored {
		return text
	}
	return "medians " + text
}

// why is what a verdict without a difference rests on.
func (d Difference) why() string {
	if d.Low == nil && d.High == nil {
		return fmt.Sprintf("p %s, %d and %d trials", d.Chance(), d.Trials[0], d.Trials[1])
	}
	return fmt.Sprintf("95%% interval of the shift %s %s, p %s, %d and %d trials", d.Ends(), d.points(), d.Chance(), d.Trials[0], d.Trials[1])
}

// tooFew is why there was no test: how many trials there are and are needed, or whose
// figures are not those of a service alone.
func (d Difference) tooFew() string {
	if d.Gap == summary.OneStart || d.Gap == summary.FewRequests {
		return gapText(d.Gap, 0, 2, d.Metric)
	}
	if d.Verdict == verdict.Withheld {
		var sides []string
		var cells []*summary.Cell
		for i, name := range []string{"A", "B"} {
			if d.Spoiled[i] != nil {
				sides, cells = append(sides, name), append(cells, d.Spoiled[i])
			}
		}
		return spoiledText(d.Gap, phrase.List(sides), cells...)
	}
	least, among := max(verdict.MinRanked, stats.TrialsNeeded(d.Family)), ""
	if d.Family > 1 {
		among = fmt.Sprintf(" for %d cells", d.Family)
	}
	return fmt.Sprintf("%d and %d trials; at least %d and %d are needed%s, 6 and 6 are advised (measure.repeats)", d.Trials[0], d.Trials[1], least, least, among)
}

// Word is the verdict for a table.
func (d Difference) Word() (string, display.Tone) {
	switch d.Verdict {
	case verdict.Alike:
		return "~", display.Normal
	case verdict.TooFew:
		return "too few", display.Warning
	case verdict.Withheld:
		return "not tested", display.Warning
	case verdict.OneSided:
		if d.A == nil {
			return "B only", display.Normal
		}
		return "A only", display.Normal
	}
	if d.Better() {
		return "better", display.Good
	}
	return "worse", display.Bad
}

// Judged words the outcome of a bound: "p99 +324% (+538 ms, 95%: +510 to +560 ms, p
// 0.002)", and what is missing to decide it.
func Judged(b verdict.Bound, d *verdict.Difference, j verdict.Judgement) string {
	m, _ := verdict.MetricOf(b.Metric)
	switch j.Ground {
	case verdict.NotMeasured:
		return m.Words + " was not measured"
	case verdict.NotTested:
		return Difference{d}.Sentence()
	case verdict.Interval:
		return Difference{d}.moved()
	case verdict.NotSignificant:
		return fmt.Sprintf("%s; beyond the bound, but not significant among %s: more repeats can decide it (measure.repeats)", Difference{d}.moved(), phrase.Plural(d.Family, "comparison"))
	case verdict.Includes:
		interval := "the 95% interval"
		if b.Percent && !math.IsInf(j.Low, 0) && !math.IsInf(j.High, 0) {
			interval += fmt.Sprintf(", %+.3g%% to %+.3g%% of A,", j.Low, j.High)
		}
		return Difference{d}.moved() + "; " + interval + " includes the bound: more repeats make it narrower (measure.repeats)"
	}
	text := fmt.Sprintf("so many requests failed that %s of all of them is infinite in %d of %d trials of A and %d of %d of B",
		m.Words, d.Infinite[0].N, d.Infinite[0].Of, d.Infinite[1].N, d.Infinite[1].Of)
	switch j.Ground {
	case verdict.FewInfinities:
		text += ": more repeats can decide it, at least 4 and 4 (measure.repeats)"
	case verdict.SomeInfinities:
		text += ": compare availability, or the two at a load that both answer"
	}
	return text
}

// moved is by how much a metric differs.
func (d Difference) moved() string {
	text, details := "", []string{}
	if d.Shift != nil {
		text = d.ShiftText() + " " + d.points()
	}
	if d.Percent != nil {
		text, details = d.PercentText(), append(details, text)
	}
	if d.Low != nil || d.High != nil {
		details = append(details, fmt.Sprintf("95%%: %s %s", d.Ends(), d.points()))
	}
	if d.PHolm != nil {
		details = append(details, "p "+d.Chance())
	}
	m, _ := verdict.MetricOf(d.Metric)
	return fmt.Sprintf("%s (%s)", strings.TrimSpace(m.Words+" "+text), strings.Join(details, ", "))
}
