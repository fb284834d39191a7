package slow

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

// A step contains its lower bound, and is narrower than 1%.
func TestStepsOfLatencies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "latency"))
		i := step(d)
		low, high := least(i), least(i+1)
		if d < low || d >= high || step(low) != i || high-low > max(low/100, time.Microsecond) {
			t.Errorf("%v lies in step %d, from %v to %v", d, i, low, high)
		}
	})
	for _, d := range []time.Duration{time.Hour, -1} {
		if i := step(d); i < 0 || i >= len((&counts{}).of) {
			t.Errorf("%v lies in step %d of %d", d, i, len((&counts{}).of))
		}
	}
}

func TestP95OfCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Int64Range(0, int64(time.Minute)), enough, 300).Draw(t, "latencies")
		c := &counts{}
		for _, d := range all {
			c.add(time.Duration(d))
		}
		slices.Sort(all)
		want := time.Duration(all[int(math.Ceil(0.95*float64(len(all))))-1])
		if got := c.p95(); got > want || got < want-want/100-time.Microsecond {
			t.Errorf("p95 of %d is %v; want %v, rounded down", len(all), got, want)
		}
	})
}

// seen is an interval of a bar's input: a number of requests of the same latency.
type seen struct {
	n       int
	latency time.Duration
}

func TestTheRunningP95(t *testing.T) {
	times := func(n int, s ...seen) []seen { return slices.Repeat(s, n) }
	for name, c := range map[string]struct {
		seen []seen
		want time.Duration
	}{
		"nothing is known":                  {nil, 0},
		"too little is known":               {times(2, seen{9, 100 * ms}), 0},
		"enough in three intervals":         {times(3, seen{9, 100 * ms}), 100 * ms},
		"one interval":                      {times(1, seen{1000, 100 * ms}), 100 * ms},
		"one bad second in half a minute":   {append(times(29, seen{100, 10 * ms}), seen{100, 500 * ms}), 10 * ms},
		"two bad seconds in four":           {append(times(2, seen{100, 10 * ms}), times(2, seen{100, 500 * ms})...), 10 * ms},
		"permanently slow":                  {append(times(1, seen{100, 10 * ms}), times(4, seen{100, 500 * ms})...), 500 * ms},
		"a bad second at first":             {append(times(1, seen{100, 500 * ms}), seen{100, 10 * ms}), 10 * ms},
		"a good second after many bad ones": {append(times(29, seen{100, 500 * ms}), seen{100, 10 * ms}), 10 * ms},
		"a good second of few requests":     {append(times(29, seen{100, 500 * ms}), seen{9, 10 * ms}), 500 * ms},
		"an interval without requests":      {append(times(3, seen{100, 500 * ms}), seen{}), 500 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			b := &Bar{}
			for _, s := range c.seen {
				for range s.n {
					b.present.add(s.latency)
				}
				b.Turn()
			}
			if b.height > c.want || b.height < c.want-c.want/100 {
				t.Errorf("the bar is at %v; want %v", b.height, c.want)
			}
			if b.Reset(); b.height != 0 {
				t.Errorf("the bar is at %v for a new load; want 0", b.height)
			}
		})
	}
}

// Orders in which 1,000 requests of 0 to 999 ms may end.
var orderings = map[string]func(r *rand.Rand) []int{
	"by chance":             func(r *rand.Rand) []int { return r.Perm(1000) },
	"the fastest first":     func(*rand.Rand) []int { return count(1000, func(i int) int { return i }) },
	"the slowest first":     func(*rand.Rand) []int { return count(1000, func(i int) int { return 999 - i }) },
	"slow and fast in turn": func(*rand.Rand) []int { return count(1000, func(i int) int { return i * 7 % 1000 }) },
}

func count(n int, f func(int) int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = f(i)
	}
	return all
}

// The slowest are always kept, and each of the others equally often, in any order. The
// seeds are fixed, so the test is deterministic.
func TestASampleIsFair(t *testing.T) {
	const runs, n = 1000, 1000
	for name, order := range orderings {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			var kept [n]int
			for range runs {
				s := &Sample{}
				for _, latency := range order(r) {
					s.Add(Request{Done: time.Duration(latency) * ms}, r)
				}
				sum := 0.0
				for _, one := range s.AppendTo(nil, time.Unix(1_700_000_000, 0)) {
					latency := (one.Done - one.Intended) / int64(ms)
					kept[latency]++
					sum += one.For
					if want := 1.0; latency >= n-keptSlowest && one.For != want {
						t.Fatalf("one of the slowest stands for %v; want itself", one.For)
					}
				}
				if math.Abs(sum-n) > 1e-9*n {
					t.Fatalf("the kept stand for %v; want %d", sum, n)
				}
			}
			chance := float64(keptOthers) / (n - keptSlowest)
			want, deviation := runs*chance, math.Sqrt(runs*chance*(1-chance))
			for latency, times := range kept {
				switch {
				case latency >= n-keptSlowest:
					if times != runs {
						t.Errorf("%d ms was kept %d times of %d; it is one of the slowest", latency, times, runs)
					}
				case math.Abs(float64(times)-want) > 5*deviation:
					t.Errorf("%d ms was kept %d times; want %.0f, within 5 times %.0f", latency, times, want, deviation)
				}
			}
		})
	}
}

func TestASampleDoesNotAllocate(t *testing.T) {
	s, r := &Sample{}, rand.New(rand.NewPCG(1, 2))
	b := &Bar{}
	if n := testing.AllocsPerRun(2000, func() {
		one := Request{Done: time.Duration(r.Int64N(int64(time.Second)))}
		b.present.add(one.latency())
		s.Add(one, r)
	}); n != 0 {
		t.Errorf("%v allocations a request", n)
	}
	if n := testing.AllocsPerRun(20, b.Turn); n != 0 {
		t.Errorf("%v allocations an interval", n)
	}
}
