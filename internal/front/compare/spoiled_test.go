package compare

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/narrative"
)

// Slow trials against quick ones, which differ without doubt, are not compared if the
// figures of a side are not those of its service.
func TestFiguresThatAreNotTheServicesDecideNothing(t *testing.T) {
	for _, c := range []struct {
		name   string
		spoils func(*summary.Cell)
		why    string
		p50    verdict.Direction
	}{
		{"others disturbed four of six trials", func(c *summary.Cell) {
			c.Disturbance = &summary.Disturbance{By: []string{summary.Neighbours}, Trials: 6, Disturbed: 4, Kept: 4, Quantile: "p99"}
		}, "other processes disturbed most trials of B", verdict.Withheld},
		{"the slow tail is the generator's", func(c *summary.Cell) {
			c.Causes = &summary.Causes{Quantile: "p99", Generator: 0.6, Rest: 0.4}
		}, "the slow tail of B is mostly the generator's own", verdict.Lower},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := fixture("before", map[string][]float64{"1": slow}), fixture("after", map[string][]float64{"1": quick})
			c.spoils(b.Cells[0].Figures)
			r := compared(t, a, b)
			want := "p99 is 704 in A and 166 ms in B (not tested): " + c.why
			if r.Answer != want {
				t.Errorf("%q, want %q", r.Answer, want)
			}
			row := r.Pairs[0].Row("p99")
			if word, tone := (narrative.Difference{Difference: row}).Word(); row.Verdict != verdict.Withheld || row.P != nil || word != "not tested" || tone != display.Warning {
				t.Errorf("%+v, %q", row, word)
			}
			if got := r.Pairs[0].Row("p50").Verdict; got != c.p50 {
				t.Errorf("p50: %q, want %q", got, c.p50)
			}
			for _, bound := range []string{"p99>+10%", "p99<-10%"} {
				parsed, err := ParseBound(bound)
				if err != nil {
					t.Fatal(err)
				}
				r.FailOn = nil
				if failed := r.Judge([]Bound{parsed}, false); failed || r.FailOn[0].Outcome != verdict.Undecided || !strings.HasSuffix(r.FailOn[0].Why, c.why) {
					t.Errorf("%s: %+v", bound, r.FailOn[0])
				}
			}
		})
	}
}

// One trial of six without any answer is the highest of B: the five others, although
// lower than all of A, do not make B better.
func TestATrialWithoutAnswersCounts(t *testing.T) {
	a, b := fixture("before", map[string][]float64{"1": slow}), fixture("after", map[string][]float64{"1": quick})
	b.Cells[0].Figures.PerTrial[2] = summary.TrialFigures{Trial: 3, Availability: ptr(0.0), OfAll: &summary.AllRequests{}}
	r := compared(t, a, b)
	row := r.Pairs[0].Row("p99")
	if row.Verdict != verdict.Alike || row.Trials != [2]int{6, 6} || math.Abs(*row.P-98.0/924) > 1e-9 {
		t.Errorf("%+v, want six trials each and no significant difference: p 0.106", row)
	}
	if want := "of B, in 1 of 6 trials so many requests failed that p99 is infinite (availability 0% there)"; !slices.Contains(r.Pairs[0].Notes, want) {
		t.Errorf("notes %q, want %q", r.Pairs[0].Notes, want)
	}
	bound, err := ParseBound("p99>+10%")
	if err != nil {
		t.Fatal(err)
	}
	if r.Judge([]Bound{bound}, false) || r.FailOn[0].Outcome != verdict.Undecided {
		t.Errorf("%+v", r.FailOn[0])
	}
}

// Where a side fails in most trials, the latency of all requests is infinite, and the answer
// is by availability: 62% against 25% are not alike.
func TestAvailabilityAnswersWhereASideFails(t *testing.T) {
	side := func(name string, available float64) *Selection {
		s := fixture(name, map[string][]float64{"1": quick})
		for i := range s.Cells[0].Figures.PerTrial {
			s.Cells[0].Figures.PerTrial[i].Availability = ptr(available + float64(i)/100)
		}
		return s
	}
	for name, c := range map[string]struct {
		a, b    float64
		metric  string
		verdict verdict.Direction
	}{
		"both fail":     {62, 25, "availability", verdict.Lower},
		"one fails":     {94, 99.9, "availability", verdict.Higher},
		"neither fails": {99.5, 99.9, "p99", verdict.Alike},
	} {
		r := compared(t, side("before", c.a), side("after", c.b))
		if p := &r.Pairs[0]; p.Main != c.metric || p.Row(p.Main).Verdict != c.verdict {
			t.Errorf("%s: %s is %s, want %s %s", name, p.Main, p.Row(p.Main).Verdict, c.metric, c.verdict)
		}
	}
}
