package answer_test

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/show/answer"
	"github.com/millicore/millicore/test/testkit/golden"
)

func TestAnswersOfComparisons(t *testing.T) {
	number := func(v float64) *float64 { return &v }
	calm := &summary.Cell{PerTrial: make([]summary.TrialFigures, 6)}
	stopped := cellOf("go", p99At(440), throttled(99, 100))
	limited := cellOf("go", breaksBetween(300, 310, 320, summary.ByCPULimit))
	differ := func(a, b float64, d verdict.Direction) *verdict.Difference {
		return &verdict.Difference{Metric: "p99", Unit: "ms", A: &a, B: &b, Shift: number(b - a), Percent: number(100 * (b - a) / a),
			Low: number(b - a - 30), High: number(b - a + 30), P: number(0.002), Verdict: d, Trials: [2]int{6, 6}}
	}
	higher, lower, alike := differ(100, 400, verdict.Higher), differ(400, 100, verdict.Lower), differ(100, 101, verdict.Alike)
	few := &verdict.Difference{Metric: "p99", Unit: "ms", A: number(100), B: number(400), Verdict: verdict.TooFew, Gap: summary.FewTrials, Trials: [2]int{1, 1}}
	start, requests, others := *few, *few, *few
	start.Gap, requests.Gap = summary.OneStart, summary.FewRequests
	others.Verdict, others.Gap = verdict.Withheld, summary.DisturbedTrials
	breaks := *differ(310, 400, verdict.Higher)
	breaks.Metric, breaks.Unit = verdict.BreakingPointMetric, "requests/s"
	one := func(d *verdict.Difference, a, b *summary.Cell, differs ...string) []answer.Pair {
		return []answer.Pair{{Name: "go", Main: d, A: a, B: b, Differs: differs}}
	}
	var b strings.Builder
	for _, c := range []struct {
		name  string
		pairs []answer.Pair
		sides answer.Sides
	}{
		{"worse, by the limit", one(higher, calm, &stopped, "GOMAXPROCS 1 → 6"), answer.Sides{}},
		{"better, by the one setting", one(lower, calm, calm, "GOMAXPROCS 6 → 1"), answer.Sides{}},
		{"two settings, two runs", one(higher, calm, calm, "GOMAXPROCS 1 → 6", "limits.cpu 1 → 2"), answer.Sides{Incomparable: true, TwoRecords: true}},
		{"nothing set differently", one(higher, calm, calm), answer.Sides{TwoRecords: true}},
		{"the limit of a search", one(&breaks, &limited, calm), answer.Sides{}},
		{"alike", one(alike, calm, calm), answer.Sides{TwoRecords: true}},
		{"few trials", one(few, calm, calm), answer.Sides{}},
		{"one start", one(&start, calm, calm), answer.Sides{}},
		{"few requests", one(&requests, calm, calm), answer.Sides{}},
		{"disturbed", one(&others, calm, calm), answer.Sides{}},
		{"benchmarks", one(nil, calm, calm), answer.Sides{Benchmarks: true}},
		{"both ways", append(one(higher, calm, &stopped), one(lower, calm, calm, "GOMAXPROCS 6 → 1")...), answer.Sides{TwoRecords: true}},
	} {
		a := answer.OfPairs(metricOf(c.pairs), c.pairs, c.sides)
		b.WriteString(printed(t, c.name, a))
	}
	golden.Check(t, "compared.txt", b.String())
}

// metricOf is the metric that answers.
func metricOf(pairs []answer.Pair) string {
	if d := pairs[0].Main; d != nil {
		return d.Metric
	}
	return "p99"
}
