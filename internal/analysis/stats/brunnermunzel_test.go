package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/millicore/millicore/test/testkit"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func known(v ...float64) (all []Observed) {
	for _, one := range v {
		all = append(all, Known(one))
	}
	return all
}

// The pain scores of E. Brunner and U. Munzel, 2000, and what R's lawstat and
// brunnermunzel print for them.
func TestTheStatisticIsBrunnersAndMunzels(t *testing.T) {
	x := known(1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 1, 1)
	y := known(3, 3, 4, 3, 1, 2, 3, 1, 1, 5, 4)
	near(t, "statistic", brunnerMunzel(y, x), 3.1375, 5e-5)
	sign, p := CensoredTest(x, y)
	near(t, "P by permutation", p, 0.0141, 0.003) // drawn; 0.008 without Wilson's variance
	if _, turned := CensoredTest(y, x); sign != -1 || math.Abs(p-turned) > 0.002 {
		t.Errorf("sign %d, P %v, turned round %v", sign, p, turned)
	}
}

// scipy.stats.brunnermunzel of SciPy 1.17.1, which takes the samples the other way round.
func TestTheStatisticIsThatOfSciPy(t *testing.T) {
	for _, c := range []struct {
		x, y []float64
		want float64
	}{
		{[]float64{1, 2, 2, 3, 5}, []float64{2, 3, 3, 4, 6, 6}, -1.7467831834171323},
		{[]float64{-1.5, 0.25, 0.5, 4, 7}, []float64{-2, -1, 0, 0.1}, 2.2135943621178655},
		{[]float64{3, 3, 3, 4}, []float64{3, 3, 2, 3, 3}, 1.6},
		{[]float64{10, 11, 12, 13, 14, 15}, []float64{1, 2, 3, 4, 5, 10.5}, 12.020815280171309},
		{[]float64{5, 6, 7, 8}, []float64{1, 2, 3, 4}, math.Inf(1)},
		{[]float64{2, 2}, []float64{2, 2, 2}, 0}, // not a number in SciPy
	} {
		got := brunnerMunzel(known(c.x...), known(c.y...))
		if got != c.want && !(math.Abs(got-c.want) < 1e-9) {
			t.Errorf("%v and %v: %v, want %v", c.x, c.y, got, c.want)
		}
	}
}

// brunnerMunzel is the statistic without Wilson's variance.
func brunnerMunzel(x, y []Observed) float64 {
	all := slices.Concat(x, y)
	order := make([][]int, len(all))
	for i := range all {
		for j := range all {
			order[i] = append(order[i], all[i].Against(all[j]))
		}
	}
	t, effect := studentized(order, firstOf(len(x), len(all))), float64(dominance(x, y))/float64(len(x)*len(y))
	if math.IsInf(t, 0) {
		return t
	}
	return t / math.Sqrt(1-effect*effect)
}

func TestSamplesThatDoNotOverlap(t *testing.T) {
	for _, n := range [][2]int{{3, 3}, {6, 6}, {6, 12}} {
		x, y := make([]float64, n[0]), make([]float64, n[1])
		for i := range x {
			x[i] = 1 + float64(i)/100
		}
		for i := range y {
			y[i] = 20 + float64(i)/100
		}
		sign, p := CensoredTest(known(x...), known(y...))
		near(t, "P", p, LeastP(n[0], n[1]), 1e-12)
		if sign != -1 {
			t.Errorf("%v: sign %d", n, sign)
		}
	}
}

func TestNoEvidence(t *testing.T) {
	for name, c := range map[string][2][]Observed{
		"no values":             {nil, known(1, 2)},
		"one side empty":        {known(1, 2), nil},
		"all values equal":      {known(100, 100, 100), known(100, 100, 100)},
		"the same values":       {known(1, 2, 3, 4), known(1, 2, 3, 4)},
		"one value above sixty": {known(2), drawn(rand.New(rand.NewPCG(1, 1)), 60, func(r *rand.Rand) Observed { return Known(1 + r.Float64()) })},
	} {
		if _, p := CensoredTest(c[0], c[1]); p < 1-1e-9 {
			t.Errorf("%s: P %v, want 1", name, p)
		}
	}
}

// Four wide values above six narrow ones are no evidence, two narrow samples are: B. L.
// Welch's t of 1, 2, 3, 4 and 11, 12, 13, 14 is 10.95 with 6 degrees of freedom.
func TestFewValuesHaveWelchsTest(t *testing.T) {
	raised := func(v ...float64) (all []float64) {
		for _, one := range v {
			all = append(all, math.Exp(one))
		}
		return all
	}
	f, ok := fewOf(known(raised(1, 2, 3, 4)...), known(raised(11, 12, 13, 14)...))
	near(t, "P", f.p, 1.25*3.44e-5, 5e-7)
	near(t, "low", math.Log(f.low), 10-2.612242*0.9128709, 1e-4)
	near(t, "high", math.Log(f.high), 10+2.612242*0.9128709, 1e-4)
	if !ok {
		t.Error("few")
	}
	if _, p := CensoredTest(known(101, 1000, 110, 150), known(98, 99, 99.5, 100, 97, 96)); p < 0.05 {
		t.Errorf("wide above narrow: P %v", p)
	}
	if _, ok := fewOf(known(1, 2, 3, 4), known(0, 1, 2, 3)); ok {
		t.Error("0 has no logarithm")
	}
}

// Samples with one median are said to differ in at most 5% of the cases, whatever their
// sizes and spreads. docs/statistics.md has the table.
func TestSpreadsAndSizesMayDiffer(t *testing.T) {
	runs := testkit.Samples(100, 1000, 4000)
	for name, of := range map[string]func(sd float64) func(*rand.Rand) Observed{
		"log-normal": func(sd float64) func(*rand.Rand) Observed { return skewed(1, sd) },
		"exponential": func(sd float64) func(*rand.Rand) Observed {
			return func(r *rand.Rand) Observed { return Known(1 + sd*(r.ExpFloat64()-math.Ln2)) }
		},
	} {
		for _, n := range [][2]int{{4, 4}, {4, 12}, {12, 4}, {4, 30}, {5, 5}, {5, 12}, {5, 30}, {6, 6}, {6, 12}, {12, 6}, {6, 30}, {7, 12}, {8, 30}, {12, 30}, {30, 30}} {
			for _, wider := range []float64{1, 2, 5, 10} {
				r, above, below := rand.New(rand.NewPCG(uint64(10*n[0]+n[1]), uint64(wider))), 0, 0
				for range runs {
					switch sign, p := CensoredTest(drawn(r, n[0], of(0.05*wider)), drawn(r, n[1], of(0.05))); {
					case p >= 1-Level:
					case sign > 0:
						above++
					default:
						below++
					}
				}
				wrong := above + below
				t.Logf("%s, %d and %d, the first %g times as wide: %.1f%%, above %.1f%%", name, n[0], n[1], wider, 100*float64(wrong)/float64(runs), 100*float64(above)/float64(runs))
				if most := 0.06*float64(runs) + 3*math.Sqrt(0.06*float64(runs)); float64(wrong) > most {
					t.Errorf("%s, %v, %g times as wide: %d of %d", name, n, wider, wrong, runs)
				}
			}
		}
	}
}

func TestHolmAgreesWithPublishedExamples(t *testing.T) {
	for _, c := range []struct {
		name    string
		p, want []float64
	}{
		// The example of Wikipedia's article on the Holm-Bonferroni method: H4
		// and H1 are rejected at 0.05, H2 and H3 are not.
		{"four tests", []float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{"one test is left as it is", []float64{0.03}, []float64{0.03}},
		{"never above 1", []float64{0.6, 0.7}, []float64{1, 1}},
		{"equal ones", []float64{0.02, 0.02}, []float64{0.04, 0.04}},
		{"none", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Holm(c.p)
			if len(got) != len(c.want) {
				t.Fatalf("%v, want %v", got, c.want)
			}
			for i := range got {
				near(t, "corrected", got[i], c.want[i], 1e-12)
			}
		})
	}
}

func TestFewTrialsAreNotEnough(t *testing.T) {
	near(t, "3 and 3", LeastP(3, 3), 0.1, 1e-12)
	near(t, "4 and 4", LeastP(4, 4), 2.0/70, 1e-12)
	near(t, "5 and 5", LeastP(5, 5), 2.0/252, 1e-12)
	near(t, "1 and 1", LeastP(1, 1), 1, 0)
	near(t, "0 and 6", LeastP(0, 6), 1, 0)
	near(t, "1 and 60", LeastP(1, 60), 1, 0)
	for tests, want := range map[int]int{0: 4, 1: 4, 2: 5, 6: 5, 7: 6, 20: 6} {
		if got := TrialsNeeded(tests); got != want {
			t.Errorf("%d tests need %d trials, want %d", tests, got, want)
		}
	}
}
