package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// Permeability of the human placenta at term and at 12 to 26 weeks: Hollander
// and Wolfe, table 4.1; also the example of R's ?wilcox.test.
var (
	term  = []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	early = []float64{1.15, 0.88, 0.90, 0.74, 1.21}
)

// Ozone in New York, May and August 1973: R's data set airquality without missing
// values; ?wilcox.test compares them, too.
var (
	may    = []float64{41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23, 45, 115, 37}
	august = []float64{39, 9, 16, 78, 35, 66, 122, 89, 110, 44, 28, 65, 22, 59, 23, 31, 44, 21, 9, 45, 168, 73, 76, 118, 84, 85}
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestMannWhitneyAgreesWithPublishedExamples(t *testing.T) {
	for _, c := range []struct {
		name string
		x, y []float64
		u, p float64
		digi float64 // precision of the published P
	}{
		// R prints W = 35, p-value = 0.1272 for the one-sided test.
		{"exact, without ties", term, early, 35, 2 * 0.1272, 1e-4},
		// R prints W = 127.5, p-value = 0.0001208.
		{"large, with ties", may, august, 127.5, 0.0001208, 5e-8},
		// Two samples that do not overlap: 2 of the 20 orders of three and three.
		{"three against three", []float64{1, 2, 3}, []float64{4, 5, 6}, 0, 0.1, 1e-12},
		{"five against five", []float64{6, 7, 8, 9, 10}, []float64{1, 2, 3, 4, 5}, 25, 2.0 / 252, 1e-12},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, p := MannWhitney(c.x, c.y)
			near(t, "U", u, c.u, 0)
			near(t, "P", p, c.p, c.digi)
			_, turned := MannWhitney(c.y, c.x)
			near(t, "P with the samples turned round", turned, p, 1e-12)
		})
	}
}

func TestMannWhitneyWithoutAnyEvidence(t *testing.T) {
	for name, c := range map[string][2][]float64{
		"no values":        {nil, {1, 2}},
		"one side empty":   {{1, 2}, nil},
		"all values equal": {{100, 100, 100}, {100, 100, 100}},
		"the same values":  {{1, 2, 3, 4}, {1, 2, 3, 4}},
	} {
		if _, p := MannWhitney(c[0], c[1]); p != 1 {
			t.Errorf("%s: P %v, want 1", name, p)
		}
	}
}

// TestTiedValuesAreExact compares P with all ways to divide the values.
func TestTiedValuesAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		x, y := make([]float64, 1+random.IntN(5)), make([]float64, 1+random.IntN(6))
		for i := range x {
			x[i] = float64(random.IntN(4))
		}
		for i := range y {
			y[i] = float64(random.IntN(4) + random.IntN(2))
		}
		_, got := MannWhitney(x, y)
		if want := enumerated(x, y); math.Abs(got-want) > 1e-9 {
			t.Fatalf("x %v, y %v: P %v, all divisions give %v", x, y, got, want)
		}
	}
}

// enumerated is the two-sided P by counting.
func enumerated(x, y []float64) float64 {
	all := append(append([]float64{}, x...), y...)
	u := func(mask uint) float64 {
		sum := 0.0
		for i := range all {
			for k := range all {
				if mask&(1<<i) != 0 && mask&(1<<k) == 0 {
					switch {
					case all[i] > all[k]:
						sum++
					case all[i] == all[k]:
						sum += 0.5
					}
				}
			}
		}
		return sum
	}
	seen := u(1<<len(x) - 1)
	below, above, ways := 0.0, 0.0, 0.0
	for mask := range uint(1) << len(all) {
		if bits.OnesCount(mask) != len(x) {
			continue
		}
		ways++
		v := u(mask)
		if v <= seen {
			below++
		}
		if v >= seen {
			above++
		}
	}
	return min(1, 2*min(below, above)/ways)
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
	for tests, want := range map[int]int{0: 4, 1: 4, 2: 5, 6: 5, 7: 6, 20: 6} {
		if got := TrialsNeeded(tests); got != want {
			t.Errorf("%d tests need %d trials, want %d", tests, got, want)
		}
	}
}
