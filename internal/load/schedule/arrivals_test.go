package schedule

import (
	"math"
	"sort"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func all(a *Arrivals) (times []time.Duration) {
	for {
		at, ok := a.Next()
		if !ok {
			return times
		}
		times = append(times, at)
	}
}

func TestEvenArrivals(t *testing.T) {
	got := all(Even(mustCurve(t, Stage{Length: sec, From: 5, To: 5}), 0, 1))
	want := []time.Duration{100e6, 300e6, 500e6, 700e6, 900e6}
	if len(got) != len(want) {
		t.Fatalf("%v; want %v", got, want)
	}
	for i := range want {
		if (got[i] - want[i]).Abs() > 1 {
			t.Errorf("arrival %d: %v; want %v", i, got[i], want[i])
		}
	}
}

// On a ramp from 0 to r in T the integral is r t²/2T: arrival k lies at
// sqrt(2 T (k+½) / r).
func TestEvenArrivalsOnARamp(t *testing.T) {
	got := all(Even(mustCurve(t, Stage{Length: 10 * sec, From: 0, To: 1000}), 0, 1))
	if len(got) != 5000 {
		t.Fatalf("%d arrivals; want 5000", len(got))
	}
	for k, at := range got {
		want := time.Duration(math.Sqrt(2*10*(float64(k)+0.5)/1000) * 1e9)
		if (at - want).Abs() > 10 {
			t.Fatalf("arrival %d: %v; want %v", k, at, want)
		}
	}
}

func TestEvenArrivalsAreExactInEachSecond(t *testing.T) {
	counts := make([]int, 60)
	for _, at := range all(Even(mustCurve(t, Stage{Length: 60 * sec, From: 977, To: 977}), 0, 1)) {
		counts[at/sec]++
	}
	for i, n := range counts {
		if n != 977 {
			t.Errorf("second %d: %d arrivals; want 977", i, n)
		}
	}
}

// A load that lasts a day, and one that something else is to end, are as exact at
// their end as at their beginning: 5 us from one arrival to the next, and 200,000
// in the last second.
func TestArrivalsDoNotDrift(t *testing.T) {
	const day = 24 * time.Hour
	for name, length := range map[string]time.Duration{"a day": day, "a year": 365 * day} {
		t.Run(name, func(t *testing.T) {
			a := Even(mustCurve(t, Stage{Length: length, From: 200_000, To: 200_000}), 0, 1)
			a.at = a.curve.Integral(length-sec) - middle // all before the last second have come
			last, n := length-sec-2500, 0
			for {
				at, ok := a.Next()
				if !ok {
					break
				}
				if gap := at - last; gap < 5000-1 || gap > 5000+1 {
					t.Fatalf("arrival %d of the last second comes %v after the one before; want 5us", n, gap)
				}
				last = at
				n++
			}
			if n != 200_000 {
				t.Errorf("%d arrivals in the last second; want 200000", n)
			}
		})
	}
}

// Nothing is due at a rate of zero, and little at half a request a second.
func TestSlowRates(t *testing.T) {
	if got := all(Poisson(mustCurve(t, Stage{Length: 24 * time.Hour, From: 0, To: 0}), 0, 1, 1)); len(got) != 0 {
		t.Errorf("%d arrivals at a rate of zero", len(got))
	}
	if got := all(Even(mustCurve(t, Stage{Length: 24 * time.Hour, From: 0.5, To: 0.5}), 0, 1)); len(got) != 43200 || got[0] != sec || got[43199] != 86399*sec {
		t.Errorf("%d arrivals in a day at 0.5/s; want 43200", len(got))
	}
}

// Shares of an even load together are the load, arrival by arrival.
func TestSharesOfAnEvenLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCurve(t)
		if c.Integral(c.Length()) > 20000 {
			return
		}
		n := rapid.IntRange(1, 7).Draw(t, "shares")
		var joined []time.Duration
		for i := range n {
			joined = append(joined, all(Even(c, i, n))...)
		}
		sort.Slice(joined, func(i, j int) bool { return joined[i] < joined[j] })
		whole := all(Even(c, 0, 1))
		if len(joined) != len(whole) {
			t.Fatalf("%d arrivals in %d shares; want %d", len(joined), n, len(whole))
		}
		for i := range whole {
			if joined[i] != whole[i] {
				t.Fatalf("arrival %d: %v in shares, %v in whole", i, joined[i], whole[i])
			}
		}
	})
}

func TestArrivalsAreInOrderAndWithinTheCurve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCurve(t)
		a := Poisson(c, 1, 3, rapid.Uint64().Draw(t, "seed"))
		if rapid.Bool().Draw(t, "even") {
			a = Even(c, 1, 3)
		}
		last := time.Duration(0)
		for range 5000 {
			at, ok := a.Next()
			if !ok {
				break
			}
			if at < last || at >= c.Length() {
				t.Fatalf("%v after %v on a curve of %v", at, last, c.Length())
			}
			last = at
		}
	})
}

// Poisson arrivals: their number has the mean and the variance of its law, and
// the time between them is exponential, also on a ramp when measured in
// operational time. The seeds are fixed, so this is no matter of luck.
func TestPoissonArrivals(t *testing.T) {
	curve := mustCurve(t, Stage{Length: 10 * sec, From: 0, To: 200}) // 1000 arrivals
	const runs = 200
	var sum, squares float64
	var gaps []float64
	for seed := range uint64(runs) {
		times := all(Poisson(curve, 0, 1, seed))
		n := float64(len(times))
		sum += n
		squares += n * n
		last := 0.0
		for _, at := range times {
			u := curve.Integral(at)
			gaps = append(gaps, u-last)
			last = u
		}
	}
	mean := sum / runs
	variance := squares/runs - mean*mean
	if mean < 991 || mean > 1009 { // 4 standard errors of sqrt(1000/200)
		t.Errorf("mean number %v; want 1000", mean)
	}
	if variance < 600 || variance > 1400 { // 4 of 1000 sqrt(2/200)
		t.Errorf("variance %v; want 1000", variance)
	}
	// Kolmogorov and Smirnov's distance to 1 - exp(-x), at 0.1%: 1.95/sqrt(n).
	sort.Float64s(gaps)
	distance := 0.0
	for i, x := range gaps {
		distance = max(distance, math.Abs(float64(i+1)/float64(len(gaps))-(1-math.Exp(-x))))
	}
	if limit := 1.95 / math.Sqrt(float64(len(gaps))); distance > limit {
		t.Errorf("the gaps are %v from exponential ones; want less than %v", distance, limit)
	}
}

func TestPoissonSharesDifferAndRepeat(t *testing.T) {
	c := mustCurve(t, Stage{Length: 10 * sec, From: 100, To: 100})
	a, b := all(Poisson(c, 0, 2, 7)), all(Poisson(c, 1, 2, 7))
	if len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		t.Error("two shares have the same arrivals")
	}
	again := all(Poisson(c, 0, 2, 7))
	if len(again) != len(a) || again[0] != a[0] || again[len(a)-1] != a[len(a)-1] {
		t.Error("the same seed and share gave other arrivals")
	}
	if n := len(a) + len(b); n < 870 || n > 1130 {
		t.Errorf("%d arrivals in two halves; want about 1000", n)
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	c := mustCurve(t, Stage{Length: 1000 * sec, From: 1000, To: 2000})
	a := Poisson(c, 0, 1, 1)
	if n := testing.AllocsPerRun(1000, func() { a.Next() }); n != 0 {
		t.Errorf("%v allocations an arrival", n)
	}
}

func BenchmarkPoisson(b *testing.B) {
	c := mustCurve(b, Stage{Length: 1000 * time.Hour, From: 1000, To: 2000})
	a := Poisson(c, 0, 1, 1)
	for b.Loop() {
		a.Next()
	}
}
