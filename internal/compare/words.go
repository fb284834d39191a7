package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/display"
)

// answer says in one sentence what the comparison shows.
func answer(r *Result) string {
	if len(r.Pairs) == 1 {
		p := &r.Pairs[0]
		if row := p.Row(p.Main); row != nil {
			return sentence(row)
		}
		return "No " + metricOf(p.Main).words + " was measured on either side."
	}
	return display.Capital(many(r))
}

// many is the answer for several pairs: in how many the main metric differs, and
// the pair in which it does so most.
func many(r *Result) string {
	words := metricOf(r.Pairs[0].Main).subject()
	var higher, lower, decided, undecided int
	var most *Row
	var where string
	for i := range r.Pairs {
		row := r.Pairs[i].Row(r.Pairs[i].Main)
		if row == nil || row.Verdict == OneSided || row.Verdict == TooFew {
			undecided++
			continue
		}
		decided++
		switch row.Verdict {
		case Higher:
			higher++
		case Lower:
			lower++
		default:
			continue
		}
		if most == nil || row.step() > most.step() {
			most, where = row, r.Pairs[i].B
		}
	}
	of := fmt.Sprintf("%d of %d cells", higher+lower, len(r.Pairs))
	switch {
	case decided == 0:
		return fmt.Sprintf("%s cannot be distinguished in any of %d cells: %s", words, len(r.Pairs), few(r))
	case most == nil && undecided > 0:
		return fmt.Sprintf("No difference in %s was seen in %d of %d cells; in the others it is not known", words, decided, len(r.Pairs))
	case most == nil:
		return fmt.Sprintf("No difference in %s was seen in any of %d cells", words, len(r.Pairs))
	case lower == 0:
		return fmt.Sprintf("%s is higher in B in %s, most in %s: %s", words, of, where, most.fromTo())
	case higher == 0:
		return fmt.Sprintf("%s is lower in B in %s, most in %s: %s", words, of, where, most.fromTo())
	}
	return fmt.Sprintf("%s is higher in B in %d and lower in %d of %d cells; the most in %s: %s", words, higher, lower, len(r.Pairs), where, most.fromTo())
}

// few says what the first undecided pair lacks.
func few(r *Result) string {
	for i := range r.Pairs {
		if row := r.Pairs[i].Row(r.Pairs[i].Main); row != nil && row.Verdict == TooFew {
			return tooFew(row)
		}
	}
	return "it was not measured on both sides"
}

// step is the size of a difference, to compare pairs by.
func (r *Row) step() float64 {
	if r.Percent == nil {
		return 0
	}
	return max(*r.Percent, -*r.Percent)
}

// sentence says what one row shows: "p99 is 3.9 times higher in B: 166 → 704 ms
// (95%: +510 to +560 ms)".
func sentence(r *Row) string {
	words := r.metric.subject()
	switch r.Verdict {
	case OneSided:
		side, value := "A", r.a()
		if r.A == nil {
			side, value = "B", r.b()
		}
		return display.Capital(fmt.Sprintf("%s was measured in %s only: %s", words, side, value+r.after()))
	case TooFew:
		return display.Capital(fmt.Sprintf("%s is %s in A and %s in B, which may be chance: %s", words, r.a(), r.b()+r.after(), tooFew(r)))
	case Alike:
		return fmt.Sprintf("No difference in %s was seen: %s → %s (%s)", words, r.a(), r.b()+r.after(), r.why())
	}
	return display.Capital(fmt.Sprintf("%s is %s in B: %s", words, r.howMuch(), r.fromTo()))
}

// howMuch says how far B lies from A: "3.9 times higher", "38% lower", "1.2
// points lower", "at least 20% higher". It compares the medians, which stand
// beside it; only where they lie the other way round than the shift, the shift.
func (r *Row) howMuch() string {
	way, bound := string(r.Verdict), ""
	if r.Verdict == Higher && r.AtLeast[1] {
		bound = "at least "
	}
	step := *r.B - *r.A
	if step > 0 != (r.Verdict == Higher) {
		step = *r.Difference
	}
	size := math.Abs(step)
	switch {
	case r.shown() == "%":
		return fmt.Sprintf("%s%s points %s", bound, display.Fixed(size*r.metric.scale, r.places()), way)
	case *r.A == 0:
		return bound + way
	case r.Verdict == Higher && size >= *r.A:
		return fmt.Sprintf("%s%s times %s", bound, ratio((*r.A+size) / *r.A), way)
	}
	return fmt.Sprintf("%s%s%% %s", bound, ratio(100*size / *r.A), way)
}

// ratio writes two digits: 3.9, 12.
func ratio(v float64) string {
	if v >= 10 {
		return display.Fixed(v, 0)
	}
	return display.Fixed(v, 1)
}

// fromTo writes both sides and the difference's interval.
func (r *Row) fromTo() string {
	text := r.a() + " → " + r.b() + r.after()
	if r.Low == nil && r.High == nil {
		return text
	}
	return fmt.Sprintf("%s (95%%: %s %s)", text, r.interval(), r.points())
}

// why says what a row without a difference rests on.
func (r *Row) why() string {
	if r.ByIntervals {
		return "the intervals of the breaking points overlap"
	}
	return fmt.Sprintf("95%%: %s %s, p %s, %d and %d trials", r.interval(), r.points(), r.chance(), r.Trials[0], r.Trials[1])
}

// tooFew says how many trials there are, and how many it takes.
func tooFew(r *Row) string {
	least := stats.TrialsNeeded(r.family)
	among := ""
	if r.family > 1 {
		among = fmt.Sprintf(" for %d cells", r.family)
	}
	return fmt.Sprintf("%d and %d trials; %d and %d are needed at least%s, 6 and 6 advised (repeats: 6)", r.Trials[0], r.Trials[1], least, least, among)
}

// moved says by how much a row moved, for a judgment: "p99 +324% (+538 ms, 95%:
// +510 to +560 ms, p 0.002)".
func (r *Row) moved() string {
	text, details := r.difference()+" "+r.points(), []string{}
	if r.Percent != nil {
		text, details = r.percent(), append(details, text)
	}
	if r.Low != nil || r.High != nil {
		details = append(details, fmt.Sprintf("95%%: %s %s", r.interval(), r.points()))
	}
	if r.PHolm != nil {
		details = append(details, "p "+r.chance())
	}
	return fmt.Sprintf("%s %s (%s)", r.metric.words, text, strings.Join(details, ", "))
}

// verdict says for the table whether B is better.
func (r *Row) verdict() string {
	switch r.Verdict {
	case Alike:
		if r.PHolm != nil && *r.PHolm > *r.P && *r.P < 1-stats.Level {
			return "not significant" // among so many cells
		}
		return "no difference seen"
	case TooFew:
		return "too few trials"
	case OneSided:
		return "one side only"
	}
	if (r.Verdict == Higher) == r.metric.higher {
		return "better"
	}
	return "worse"
}
