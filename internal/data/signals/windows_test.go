package signals

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const millisecond = time.Millisecond

// sample is one of an invented series: times and throttled time in milliseconds.
type sample struct {
	at                 float64
	periods, throttled int64
	blocked            float64
	down               bool
}

// window is an expected one, in milliseconds.
type window struct {
	Start, End, Throttled float64
	CPUs                  int
	Kind                  WindowKind
}

var epoch = time.Unix(1_700_000_000, 0)

func (p sample) real() ThrottleSample {
	blocked := time.Duration(p.blocked * 1e6)
	return ThrottleSample{At: epoch.Add(time.Duration(p.at * 1e6)), Periods: ptr(p.periods), ThrottledPeriods: ptr(p.throttled), Throttled: &blocked, Up: !p.down}
}

func (w Window) made() window {
	ms := func(at int64) float64 { return float64(at-epoch.UnixNano()) / 1e6 }
	return window{Start: ms(w.Start), End: ms(w.End), Throttled: float64(w.Throttled) / 1e6, CPUs: w.CPUs, Kind: w.Kind}
}

func TestRebuildingWindows(t *testing.T) {
	const T = Throttled
	type series = []sample
	for _, c := range []struct {
		name  string
		quota float64 // of a CPU
		cpus  int
		in    series
		want  []window
	}{
		{"one busy CPU under half a CPU", 0.5, 4,
			series{{at: 0}, {at: 10, periods: 1, throttled: 1, blocked: 50}, {at: 20, periods: 1, throttled: 1, blocked: 50},
				{at: 100, periods: 1, throttled: 1, blocked: 50}, {at: 110, periods: 2, throttled: 2, blocked: 99}},
			[]window{{-45, 5, 50, 1, T}, {56, 105, 49, 1, T}}},
		{"two busy CPUs under half a CPU are divided by two", 0.5, 4,
			series{{at: 0}, {at: 10, periods: 1, throttled: 1, blocked: 150}},
			[]window{{-70, 5, 150, 2, T}}},
		{"four busy CPUs under a quarter", 0.25, 4,
			series{{at: 0}, {at: 10, periods: 1, throttled: 1, blocked: 375}},
			[]window{{-88.75, 5, 375, 4, T}}},
		{"four busy CPUs under one CPU", 1, 4,
			series{{at: 0}, {at: 10, periods: 1, throttled: 1, blocked: 300}},
			[]window{{-70, 5, 300, 4, T}}},
		{"two busy CPUs under one and a half", 1.5, 2,
			series{{at: 0}, {at: 10, periods: 1, throttled: 1, blocked: 50}},
			[]window{{-20, 5, 50, 2, T}}},
		{"an overrun of a tick is no second CPU", 1, 4,
			series{{at: 0}, {at: 10, periods: 1, throttled: 1, blocked: 8}},
			[]window{{-3, 5, 8, 1, T}}},
		// Known error (docs/method.md): one CPU uses the quota in 50 ms, and three others
		// want to run 10, 20 and 30 ms later. The window is 50 ms; 70 are returned.
		{"CPUs that join after the quota is used make it too long", 0.5, 4,
			series{{at: 0}, {at: 10, periods: 1, throttled: 1, blocked: 50 + 40 + 30 + 20}},
			[]window{{-65, 5, 140, 2, T}}},
		{"no more CPUs than the machine has, no longer than a period", 1, 2,
			series{{at: 0}, {at: 10, periods: 1, throttled: 1, blocked: 500}},
			[]window{{-95, 5, 500, 2, T}}},
		{"periods that end unthrottled sharpen the end", 0.5, 1,
			series{{at: 0}, {at: 10, periods: 1}, {at: 103, periods: 1}, {at: 113, periods: 2}, {at: 197, periods: 2}, {at: 206, periods: 3, throttled: 1, blocked: 40}},
			[]window{{164.5, 204.5, 40, 1, T}}},
		{"a late sample: several windows at the period's distance", 0.5, 1,
			series{{at: 0}, {at: 10, periods: 1, throttled: 1, blocked: 50}, {at: 307, periods: 4, throttled: 4, blocked: 191}},
			[]window{{-45, 5, 50, 1, T}, {58, 105, 47, 1, T}, {158, 205, 47, 1, T}, {258, 305, 47, 1, T}}},
		{"a late sample of which one period was throttled: the last", 0.5, 1,
			series{{at: 0}, {at: 10, periods: 1}, {at: 208, periods: 3, throttled: 1, blocked: 30}},
			[]window{{175, 205, 30, 1, T}}},
		{"after idling the timer has another phase", 0.5, 1,
			series{{at: 0}, {at: 10, periods: 1, throttled: 1, blocked: 50}, {at: 550, periods: 1, throttled: 1, blocked: 50}, {at: 560, periods: 2, throttled: 2, blocked: 90}},
			[]window{{-45, 5, 50, 1, T}, {515, 555, 40, 1, T}}},
		{"a window that ends within a period: CPUs that were left time by another", 0.5, 1,
			series{{at: 0}, {at: 10, periods: 1}, {at: 60, periods: 1}, {at: 70, periods: 1, blocked: 20}},
			[]window{{45, 65, 20, 1, T}}},
		{"throttled over a period's end: the second is lost whole", 0.02, 1,
			series{{at: 0}, {at: 10, periods: 1}, {at: 100, periods: 1}, {at: 110, periods: 2, throttled: 1}, {at: 200, periods: 2, throttled: 1}, {at: 210, periods: 3, throttled: 2, blocked: 170}},
			[]window{{35, 105, 70, 1, T}, {105, 205, 100, 1, T}}},
		{"a sample between the kernel's two figures", 0.5, 1,
			series{{at: 0}, {at: 10, periods: 1, throttled: 1}, {at: 20, periods: 1, throttled: 1, blocked: 50}},
			[]window{{-45, 5, 50, 1, T}}},
		{"two ends nearer than their windows are long do not overlap", 0.5, 1,
			series{{at: 0}, {at: 10, blocked: 50}, {at: 20, blocked: 80}},
			[]window{{-45, 5, 50, 1, T}, {5, 15, 30, 1, T}}},
		{"a new group counts from zero", 0.5, 1,
			series{{at: 0, periods: 50, throttled: 50, blocked: 2500}, {at: 10, periods: 1, throttled: 1, blocked: 20}},
			[]window{{-15, 5, 20, 1, T}}},
		{"a replica that dies and comes back", 0.5, 1,
			series{{at: 0}, {at: 10, down: true}, {at: 20, down: true}, {at: 30}, {at: 40}, {at: 50, down: true}},
			[]window{{Start: 10, End: 30, Kind: Down}, {Start: 50, End: 1000, Kind: Down}}},
		{"no limit", 0, 1, series{{at: 0}, {at: 10, periods: 1, throttled: 1, blocked: 50}}, nil},
		{"nothing throttled", 0.5, 1, series{{at: 0}, {at: 10, periods: 1}, {at: 110, periods: 2}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewRebuilder(time.Duration(c.quota*100*1e6), 0, c.cpus)
			var got []window
			out := func(w Window) { got = append(got, w.made()) }
			for _, p := range c.in {
				r.Add(p.real(), out)
			}
			r.Flush(epoch.Add(time.Second), out)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestNoWindowsWithoutMeasurement(t *testing.T) {
	r := NewRebuilder(50*millisecond, 100*millisecond, 2)
	none := func(w Window) { t.Errorf("window %+v", w) }
	for i := range 100 {
		r.Add(ThrottleSample{At: epoch.Add(time.Duration(i) * 10 * millisecond), Periods: ptr(int64(i)), ThrottledPeriods: ptr(int64(i)), Up: true}, none)
	}
	r.Flush(epoch.Add(time.Second), none)
}

func TestAThrottleSampleWithoutFiguresIsIgnored(t *testing.T) {
	r := NewRebuilder(50*millisecond, 100*millisecond, 1)
	var got []window
	out := func(w Window) { got = append(got, w.made()) }
	r.Add(sample{at: 0}.real(), out)
	r.Add(ThrottleSample{At: epoch.Add(10 * millisecond), Up: true}, out)
	r.Add(sample{at: 20, periods: 1, throttled: 1, blocked: 50}.real(), out)
	if d := cmp.Diff([]window{{-40, 10, 50, 1, Throttled}}, got); d != "" {
		t.Error(d)
	}
}

// For any counters, windows are in order, do not overlap, are no longer than a period,
// and together contain the throttled time that was counted.
func TestWindowsDoNotOverlapAndAreComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period := time.Duration(rapid.SampledFrom([]int{10, 50, 100}).Draw(t, "period")) * millisecond
		quota := max(1, time.Duration(rapid.SampledFrom([]float64{0.25, 0.5, 1, 1.5}).Draw(t, "quota")*float64(period)))
		r := NewRebuilder(quota, period, rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "cpus"))
		at, blocked, grew := epoch, time.Duration(0), time.Duration(0)
		var periods, throttled int64
		var last Window
		var sum time.Duration
		out := func(w Window) {
			if w.Kind != Throttled {
				return
			}
			if w.Start > w.End || w.Start < last.End || w.End <= last.End || w.End > at.UnixNano() {
				t.Fatalf("window %+v after %+v, at %d", w, last, at.UnixNano())
			}
			if w.End-w.Start > int64(period) || w.CPUs < 1 || w.Throttled < 0 {
				t.Fatalf("window %+v", w)
			}
			last, sum = w, sum+time.Duration(w.Throttled)
		}
		for range rapid.IntRange(2, 50).Draw(t, "samples") {
			p := ThrottleSample{At: at, Periods: ptr(periods), ThrottledPeriods: ptr(throttled), Throttled: ptr(blocked), Up: rapid.Bool().Draw(t, "up")}
			r.Add(p, out)
			at = at.Add(time.Duration(rapid.Int64Range(1, int64(3*period)).Draw(t, "gap")))
			periods += rapid.Int64Range(0, 4).Draw(t, "periods")
			if rapid.Bool().Draw(t, "moves") {
				throttled += rapid.Int64Range(0, 4).Draw(t, "throttled")
			}
			if rapid.Bool().Draw(t, "updated") {
				d := time.Duration(rapid.Int64Range(0, int64(8*period)).Draw(t, "blocked"))
				blocked, grew = blocked+d, grew+d
			}
		}
		r.Add(ThrottleSample{At: at, Periods: &periods, ThrottledPeriods: &throttled, Throttled: &blocked, Up: true}, out)
		if sum != grew {
			t.Fatalf("windows hold %v, the counter grew by %v", sum, grew)
		}
	})
}

// A replica with known periods: the windows are rebuilt exactly, except for where
// between two samples a period's end lies. That is known to within a millisecond after
// samples of different phases.
func TestWindowsOfASimulatedGroup(t *testing.T) {
	const period = 100 * millisecond
	for _, c := range []struct {
		name  string
		quota time.Duration
		busy  int64 // CPUs
	}{
		{"a quarter, one thread", 25 * millisecond, 1},
		{"a half, two threads", 50 * millisecond, 2},
		{"one, four threads", 100 * millisecond, 4},
		{"one and a half, two threads", 150 * millisecond, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			phase := time.Duration(rng.Int64N(int64(period)))
			length := period - c.quota/time.Duration(c.busy)
			r := NewRebuilder(c.quota, period, 4)
			var got []Window
			for at := time.Duration(0); at < 10*time.Second; at += 8*millisecond + time.Duration(rng.Int64N(int64(5*millisecond))) {
				n := max(0, int64((at-phase)/period)+1)
				if at < phase {
					n = 0
				}
				blocked := time.Duration(n) * length * time.Duration(c.busy)
				r.Add(ThrottleSample{At: epoch.Add(at), Periods: &n, ThrottledPeriods: &n, Throttled: &blocked, Up: true}, func(w Window) { got = append(got, w) })
			}
			if len(got) < 98 || len(got) > 101 {
				t.Fatalf("%d windows in 100 periods", len(got))
			}
			for i, w := range got {
				if time.Duration(w.End-w.Start) != length || int64(w.CPUs) != c.busy {
					t.Errorf("window %d: %v long of %d CPUs, want %v of %d", i, time.Duration(w.End-w.Start), w.CPUs, length, c.busy)
				}
				off := (time.Duration(w.End-epoch.UnixNano()) - phase + period/2) % period
				bound := 7 * millisecond
				if i > 50 {
					bound = millisecond
				}
				if off = off - period/2; off.Abs() > bound {
					t.Errorf("window %d ends %v beside its period", i, off)
				}
			}
		})
	}
}
