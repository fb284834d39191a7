package endpoints

import (
	"math"
	"math/rand/v2"
	"slices"
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
		i.Grown = make([]float64, len(costs))
		all = append(all, i)
	}
	return all
}

// served are two minutes of intervals of half a second of a service with one CPU, busy for 70% of
// the time with requests as in drawn. It serves them one after another, or all at once.
func served(random *rand.Rand, atOnce bool) (all []Interval) {
	type request struct {
		kind int
		left float64 // s of CPU time
	}
	costs, ends, rate := []float64{0.0003, 0.002, 0.009}, []float64{8.0 / 12, 11.0 / 12, 1}, 0.7/0.00145
	interval := func() Interval { return Interval{Ended: make([]float64, 3), Grown: make([]float64, 3)} }
	var queue []request
	one, now, arrival := interval(), 0.0, random.ExpFloat64()/rate
	for end := 0.5; end <= 120; {
		share := 1.0
		if atOnce {
			share = max(1, float64(len(queue)))
		}
		next := min(arrival, end)
		for i, r := range queue {
			if atOnce || i == 0 {
				next = min(next, now+r.left*share)
			}
		}
		var left []request
		for i, r := range queue {
			if atOnce || i == 0 {
				one.CPU += (next - now) / share
				r.left -= (next - now) / share
			}
			if r.left > 1e-12 {
				left = append(left, r)
			} else {
				one.Ended[r.kind], one.Grown[r.kind] = one.Ended[r.kind]+1, one.Grown[r.kind]-1
			}
		}
		queue, now = left, next
		switch now {
		case arrival:
			kind, drawn := 0, random.Float64()
			for drawn > ends[kind] {
				kind++
			}
			queue = append(queue, request{kind, costs[kind] * (1 + 0.2*random.NormFloat64())})
			one.Grown[kind]++
			arrival += random.ExpFloat64() / rate
		case end:
			all, one, end = append(all, one), interval(), end+0.5
		}
	}
	return all
}

// Requests end in another interval than their CPU time was used. The costs are right on average,
// whatever part of it was before.
func TestCostsOfRequestsInFlight(t *testing.T) {
	truth := []float64{0.0003, 0.002, 0.009}
	const repeats = 50
	for name, atOnce := range map[string]bool{"one after another": false, "all at once": true} {
		covered, sums := 0, make([]float64, 3)
		for seed := range repeats {
			costs := Costs(served(rand.New(rand.NewPCG(36, uint64(seed))), atOnce), Enough)
			if costs == nil {
				t.Fatal("not known")
			}
			for k, c := range costs {
				sums[k] += c.Each / repeats
				if c.Low <= truth[k] && truth[k] <= c.High {
					covered++
				}
			}
		}
		for k, mean := range sums {
			if off := mean/truth[k] - 1; math.Abs(off) > 0.06 {
				t.Errorf("%s: kind %d is off by %.3f on average", name, k, off)
			}
		}
		if share := float64(covered) / (3 * repeats); share < 0.9 {
			t.Errorf("%s: %.3f of the intervals of 95%% have the truth", name, share)
		}
	}
}

func poisson(random *rand.Rand, mean float64) (n float64) {
	for left := random.ExpFloat64(); left < mean; left += random.ExpFloat64() {
		n++
	}
	return n
}

// The costs of a steady mix come from its chance variation alone: within 10% of the truth in two
// minutes for the two kinds with most of the CPU time, and the intervals have the truth.
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
			if c.Low <= truth[k] && truth[k] <= c.High {
				covered++
			}
			if k > 0 && math.Abs(c.Each-truth[k]) <= 0.1*truth[k] {
				close++
			}
		}
	}
	if share := float64(covered) / (3 * repeats); share < 0.92 {
		t.Errorf("%.3f of the intervals have the truth", share)
	}
	if share := float64(close) / (2 * repeats); share < 0.9 {
		t.Errorf("%.3f of the costs are within 10%% of the truth", share)
	}
}

// What a service does beside its requests is divided among them. The interval has what a request
// costs without it: of requests that are always ten in all, it is up to all of the cheaper kind.
func TestCostsHaveAllOfTheCPUTime(t *testing.T) {
	random := rand.New(rand.NewPCG(36, 1))
	const beside, each = 0.05, 0.01
	var even []Interval
	for range 100 {
		a := float64(random.IntN(11))
		even = append(even, Interval{CPU: beside + each*(a+2*(10-a)), Ended: []float64{a, 10 - a}, Grown: []float64{0, 0}})
	}
	sum := 0.0
	for k, c := range Costs(even, Enough) {
		sum += c.Share
		if want := each*float64(k+1) + beside/10; math.Abs(c.Each-want) > 1e-9 {
			t.Errorf("kind %d: %v, want %v", k, c.Each, want)
		}
		if want := each * float64(k); math.Abs(c.Low-want) > 1e-9 {
			t.Errorf("kind %d: %v at least, want %v", k, c.Low, want)
		}
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("all kinds have %v of the CPU time", sum)
	}
}

// Where kinds, and all of them, are left out in turn, nine in ten costs are within 10% after twenty
// seconds at 200 requests/s, whatever the service does beside its requests.
func TestCostsOfAVariedMix(t *testing.T) {
	const runs = 300
	costs, mix := []float64{0.0003, 0.002, 0.009}, []float64{8.0 / 12, 3.0 / 12, 1.0 / 12}
	for _, beside := range []float64{0, 0.03, 0.1} { // s in each half of a second
		random := rand.New(rand.NewPCG(36, 11))
		covered, near, shares := 0, 0, 0.0
		for range runs {
			var all []Interval
			for slot := range 40 {
				i := Interval{CPU: beside + 0.002*random.NormFloat64(), Grown: make([]float64, 3)}
				for k, cost := range costs {
					n := 0.0
					if left := slot / 2 % 4; left != 3 && left != k {
						n = poisson(random, 100*mix[k])
					}
					i.Ended = append(i.Ended, n)
					i.CPU += cost * (n + 0.2*math.Sqrt(n)*random.NormFloat64())
				}
				all = append(all, i)
			}
			shares += sharesOf(Varied(all))
			for k, c := range Varied(all) {
				if c.Low <= costs[k] && costs[k] <= c.High {
					covered++
				}
				if math.Abs(c.Each/costs[k]-1) <= 0.1 {
					near++
				}
			}
		}
		// The truth is in 95%, less two standard errors, of the intervals.
		if share := float64(covered) / (3 * runs); share < 0.935 {
			t.Errorf("beside %v: the truth is in %.3f of the intervals", beside, share)
		}
		if share := float64(near) / (3 * runs); share < 0.9 {
			t.Errorf("beside %v: %.3f are within 10%%", beside, share)
		}
		// The shares are those of the whole mix: of what is beside it, they have none.
		const requests = 100 * (8*0.0003 + 3*0.002 + 0.009) / 12
		if got, want := shares/runs, requests/(requests+beside); math.Abs(got-want) > 0.01 {
			t.Errorf("beside %v: the requests have %.3f of the CPU time, want %.3f", beside, got, want)
		}
	}
}

func sharesOf(costs []Cost) (sum float64) {
	for _, c := range costs {
		sum += c.Share
	}
	return sum
}

// Requests in flight end in the interval after: a kind is left out for all that.
func TestFewOfAKindAreNone(t *testing.T) {
	all := []Interval{{Ended: []float64{100, 30}}, {Ended: []float64{90, 3}}, {Ended: []float64{1, 30}}, {Ended: []float64{0, 0}}}
	if sent, left := inTurn(all); !slices.Equal(sent, []float64{95, 30}) || !slices.Equal(left, []int{2, 2}) {
		t.Errorf("%v sent, %v left out", sent, left)
	}
}

// A kind that was not left out, and too few intervals, show nothing.
func TestCostsOfAMixThatDoesNotVary(t *testing.T) {
	var steady, few []Interval
	for i := range 40 {
		a := float64(i % 3)
		steady = append(steady, Interval{CPU: a + 2, Ended: []float64{a, 5}, Grown: []float64{0, 0}})
		if i < 8 {
			few = append(few, Interval{CPU: a, Ended: []float64{a, float64(i % 2)}, Grown: []float64{0, 0}})
		}
	}
	for name, all := range map[string][]Interval{"steady": steady, "few": few, "none": nil} {
		if costs := Varied(all); costs != nil {
			t.Errorf("%s: %v", name, costs)
		}
	}
}

// What does not vary is not known.
func TestCostsThatCannotBeKnown(t *testing.T) {
	var same, few, never []Interval
	for i := range 100 {
		n := float64(i%7 + 1)
		same = append(same, Interval{CPU: n, Ended: []float64{n, 2 * n}, Grown: []float64{0, 0}})
		never = append(never, Interval{CPU: n, Ended: []float64{n, 0}, Grown: []float64{0, 0}})
		if i < 19 {
			few = append(few, Interval{CPU: n, Ended: []float64{n, float64(i % 3)}, Grown: []float64{0, 0}})
		}
	}
	for name, all := range map[string][]Interval{"one proportion": same, "too few": few, "a kind that never came": never, "none": nil} {
		if costs := Costs(all, Enough); costs != nil {
			t.Errorf("%s: %v", name, costs)
		}
	}
}

// The steps of a session come in almost the same proportion: the CPU time of each is not known.
func TestCostsOfStepsAreNotKnown(t *testing.T) {
	random := rand.New(rand.NewPCG(36, 7))
	var all []Interval
	for range 60 {
		n := poisson(random, 90)
		i := Interval{Ended: []float64{n + float64(random.IntN(2)), n + float64(random.IntN(2)), n}, Grown: make([]float64, 3)}
		i.CPU = 0.00066*3*n + 0.002*random.NormFloat64()
		all = append(all, i)
	}
	if costs := Costs(all, Enough); costs != nil {
		t.Errorf("%+v", costs)
	}
}

// Without noise the costs are exact: without requests in flight, with them, and if it is not
// known how many were sent.
func TestCostsAreExact(t *testing.T) {
	var none, some, unknown []Interval
	for i := range 40 {
		a, b, c, in := float64(i%5), float64(i%7), float64(i%11), float64(i%3)-1
		one := Interval{CPU: 0.5*a + 0.25*b + 8*c, Ended: []float64{a, b, c}, Grown: []float64{0, 0, 0}}
		none = append(none, one)
		one.Grown = []float64{-a, -b, -c}
		unknown = append(unknown, one)
		one.CPU, one.Grown = one.CPU+0.3*in*8, []float64{0, 0, in}
		some = append(some, one)
	}
	for name, all := range map[string][]Interval{"none": none, "some": some, "unknown": unknown} {
		for k, want := range []float64{0.5, 0.25, 8} {
			if got := Costs(all, Enough)[k]; math.Abs(got.Each-want) > 1e-9 || got.High-got.Low > 1e-9 {
				t.Errorf("%s in flight, kind %d: %+v, want %v", name, k, got, want)
			}
		}
	}
}
