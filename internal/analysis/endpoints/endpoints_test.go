package endpoints

import (
	"math"
	"math/rand/v2"
	"testing"
)

// drawn are intervals of a second of a service whose requests of three kinds cost 0.3, 2 and 9 ms
// of CPU time: arrivals at random at a rate in a mix of 8 : 3 : 1, costs that scatter by a fifth
// from request to request, and a clock of the CPU time that is off by a millisecond.
func drawn(random *rand.Rand, seconds int, rate float64) (all []Interval) {
	costs, mix := []float64{0.0003, 0.002, 0.009}, []float64{8.0 / 12, 3.0 / 12, 1.0 / 12}
	for range seconds {
		i := Interval{CPU: 0.001 * random.NormFloat64()}
		for k, cost := range costs {
			n := poisson(random, rate*mix[k])
			i.Ended = append(i.Ended, n)
			i.CPU += cost * (n + 0.2*math.Sqrt(n)*random.NormFloat64())
		}
		all = append(all, i)
	}
	return all
}

func poisson(random *rand.Rand, mean float64) (n float64) {
	for left := random.ExpFloat64(); left < mean; left += random.ExpFloat64() {
		n++
	}
	return n
}

// The costs of a steady mix come from its chance variation alone: within 10% of the truth in two
// minutes for the two kinds with most of the CPU time, and the errors are as large as they say.
func TestCostsOfASteadyMix(t *testing.T) {
	truth := []float64{0.0003, 0.002, 0.009}
	covered, close := 0, 0
	const repeats = 200
	for seed := range repeats {
		costs := Costs(drawn(rand.New(rand.NewPCG(36, uint64(seed))), 120, 200), Enough)
		if costs == nil {
			t.Fatal("not known")
		}
		for k, c := range costs {
			if math.Abs(c.Each-truth[k]) <= 2*c.Error {
				covered++
			}
			if k > 0 && math.Abs(c.Each-truth[k]) <= 0.1*truth[k] {
				close++
			}
		}
	}
	if share := float64(covered) / (3 * repeats); share < 0.92 || share > 0.985 {
		t.Errorf("%.3f of the intervals of two standard errors have the truth", share)
	}
	if share := float64(close) / (2 * repeats); share < 0.9 {
		t.Errorf("%.3f of the costs are within 10%% of the truth", share)
	}
}

// What a service does beside its requests is divided among them.
func TestCostsHaveAllOfTheCPUTime(t *testing.T) {
	random := rand.New(rand.NewPCG(36, 1))
	const beside, each = 0.05, 0.01
	var even []Interval
	for range 100 {
		a := float64(random.IntN(11))
		even = append(even, Interval{CPU: beside + each*(a+2*(10-a)), Ended: []float64{a, 10 - a}})
	}
	sum := 0.0
	for k, c := range Costs(even, Enough) {
		sum += c.Share
		if want := each*float64(k+1) + beside/10; math.Abs(c.Each-want) > 1e-9 {
			t.Errorf("kind %d: %v, want %v", k, c.Each, want)
		}
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("all kinds have %v of the CPU time", sum)
	}
}

// What does not vary is not known.
func TestCostsThatCannotBeKnown(t *testing.T) {
	var same, few, never []Interval
	for i := range 100 {
		n := float64(i%7 + 1)
		same = append(same, Interval{CPU: n, Ended: []float64{n, 2 * n}})
		never = append(never, Interval{CPU: n, Ended: []float64{n, 0}})
		if i < 19 {
			few = append(few, Interval{CPU: n, Ended: []float64{n, float64(i % 3)}})
		}
	}
	for name, all := range map[string][]Interval{"one proportion": same, "too few": few, "a kind that never came": never, "none": nil} {
		if costs := Costs(all, Enough); costs != nil {
			t.Errorf("%s: %v", name, costs)
		}
	}
}

// Without noise the costs are exact.
func TestCostsAreExact(t *testing.T) {
	var all []Interval
	for i := range 40 {
		a, b, c := float64(i%5), float64(i%7), float64(i%11)
		all = append(all, Interval{CPU: 0.5*a + 0.25*b + 8*c, Ended: []float64{a, b, c}})
	}
	for k, want := range []float64{0.5, 0.25, 8} {
		if got := Costs(all, Enough)[k]; math.Abs(got.Each-want) > 1e-9 || got.Error > 1e-9 {
			t.Errorf("kind %d: %+v, want %v", k, got, want)
		}
	}
}
