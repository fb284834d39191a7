package causes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/signals"
)

// record is the whole input of a builder.
type record struct {
	slow    []signals.SlowLine
	windows []signals.Window
	frames  []*signals.Frame
}

func (r *record) result(threshold, typical time.Duration) *summary.Causes {
	b := New("web", 0)
	for _, f := range r.frames {
		b.Frame(f)
	}
	for _, w := range r.windows {
		b.Window(w)
	}
	for _, s := range r.slow {
		b.Slow(s)
	}
	return b.Result("p99", threshold, typical)
}

func (r *record) shuffled(seed uint64) *record {
	random := rand.New(rand.NewPCG(seed, 0))
	out := &record{slices.Clone(r.slow), slices.Clone(r.windows), slices.Clone(r.frames)}
	random.Shuffle(len(out.slow), func(i, j int) { out.slow[i], out.slow[j] = out.slow[j], out.slow[i] })
	random.Shuffle(len(out.windows), func(i, j int) { out.windows[i], out.windows[j] = out.windows[j], out.windows[i] })
	random.Shuffle(len(out.frames), func(i, j int) { out.frames[i], out.frames[j] = out.frames[j], out.frames[i] })
	return out
}

// drawRecord draws a record that may be nonsense: unusual orders, overlaps, missing
// frames and invalid figures.
func drawRecord(t *rapid.T) *record {
	moment := rapid.Int64Range(0, 3000)
	odd := rapid.SampledFrom([]float64{0, 1, 0.5, 2.5, -1, math.NaN(), math.Inf(1)})
	r := &record{}
	for range rapid.IntRange(0, 30).Draw(t, "slow") {
		from := moment.Draw(t, "intended")
		sent := from + rapid.Int64Range(-5, 700).Draw(t, "waited")
		s := signals.Slow{
			Replica: rapid.IntRange(0, 1).Draw(t, "replica"), Intended: at(float64(from)), Sent: at(float64(sent)),
			Done: at(float64(sent + rapid.Int64Range(-5, 700).Draw(t, "took"))),
			Lag:  rapid.Int64Range(-10, 800).Draw(t, "lag") * 1e6, For: odd.Draw(t, "for"), TimedOut: rapid.Bool().Draw(t, "lost"),
		}
		r.slow = append(r.slow, signals.SlowLine{Trial: rapid.IntRange(1, 2).Draw(t, "trial"), Slow: s})
	}
	for range rapid.IntRange(0, 20).Draw(t, "windows") {
		from := moment.Draw(t, "start")
		w := window(rapid.SampledFrom([]signals.WindowKind{signals.Throttled, signals.Down, "else"}).Draw(t, "kind"),
			float64(from), float64(from+rapid.Int64Range(-5, 100).Draw(t, "long")))
		w.Trial, w.Index = rapid.IntRange(1, 2).Draw(t, "trial"), rapid.IntRange(0, 1).Draw(t, "replica")
		r.windows = append(r.windows, w)
	}
	for range rapid.IntRange(0, 12).Draw(t, "frames") {
		f := frame(0, 0)
		start := moment.Draw(t, "start")
		f.Trial, f.Index, f.Of = rapid.IntRange(1, 2).Draw(t, "trial"), rapid.IntRange(0, 1).Draw(t, "replica"), "web"
		f.Start, f.End = at(float64(start)), at(float64(start+rapid.Int64Range(-5, 1000).Draw(t, "long")))
		switch rapid.IntRange(0, 3).Draw(t, "half") {
		case 0:
			f.Client = &signals.Client{Intended: rapid.Int64Range(-1, 500).Draw(t, "due")}
		case 1:
			f.Host = &signals.Host{CPUs: 2, Foreign: odd.Draw(t, "foreign"), Services: odd.Draw(t, "services"), Steal: odd.Draw(t, "steal"), Idle: odd.Draw(t, "idle")}
		case 2:
			f.Server = &signals.Server{Restarts: rapid.Int64Range(0, 1).Draw(t, "restarts"), Up: rapid.Bool().Draw(t, "up")}
			if rapid.Bool().Draw(t, "pressed") {
				pressure := odd.Draw(t, "pressure")
				f.Server.CPUPressure = &pressure
			}
		case 3:
			f.Waits = &signals.Waits{Bounds: []float64{0.01, 0.1, 1}, Sum: odd.Draw(t, "sum"),
				Counts: rapid.SliceOfN(rapid.Int64Range(-1, 20), 4, 4).Draw(t, "counts")}
		}
		r.frames = append(r.frames, f)
	}
	return r
}

func TestSharesAreShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRecord(t)
		threshold := time.Duration(rapid.Int64Range(0, 300).Draw(t, "threshold")) * msec
		typical := time.Duration(rapid.Int64Range(0, 300).Draw(t, "typical")) * msec
		c := r.result(threshold, typical)
		if again := r.shuffled(rapid.Uint64().Draw(t, "order")).result(threshold, typical); !cmp.Equal(c, again) {
			t.Fatalf("the order of the lines matters:\n%s", cmp.Diff(c, again))
		}
		if c == nil {
			return
		}
		sum := 0.0
		for _, s := range c.Shares() {
			if !(s.Value >= 0 && s.Value <= 1+1e-12) {
				t.Fatalf("%s is %v, no share", s.Name, s.Value)
			}
			sum += s.Value
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("the shares sum to %v", sum)
		}
		if c.ThrottledDirectly > 1+1e-12 || c.ThrottledDirectly < 0 || c.ThrottlingHigh < c.Throttling || c.ThrottlingHigh > 1+1e-12 {
			t.Fatalf("throttled %v to %v, directly %v", c.Throttling, c.ThrottlingHigh, c.ThrottledDirectly)
		}
		if !(c.MeanMS > 0) || math.IsInf(c.MeanMS, 0) || len(c.Slowest) == 0 || len(c.Slowest) > keptSlowest {
			t.Fatalf("mean %v ms, %d slowest", c.MeanMS, len(c.Slowest))
		}
	})
}

// A service without a throttle window was not throttled, whatever else happened.
func TestUnthrottledIsZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRecord(t)
		r.windows = slices.DeleteFunc(r.windows, func(w signals.Window) bool { return w.Kind == signals.Throttled })
		if c := r.result(0, 0); c != nil && (c.Throttling != 0 || c.ThrottledDirectly != 0) {
			t.Fatalf("throttled %v without a window", c.Throttling)
		}
	})
}

// Sets of stretches compared with the same operations on single moments.
func TestTimes(t *testing.T) {
	const longest = 60
	draw := rapid.Custom(func(t *rapid.T) stretch {
		return stretch{rapid.Int64Range(0, longest).Draw(t, "from"), rapid.Int64Range(0, longest).Draw(t, "to")}
	})
	moments := func(all ...stretch) (out [longest]bool) {
		for _, s := range all {
			for m := s.from; m < s.to; m++ {
				out[m] = true
			}
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		first, second := rapid.SliceOfN(draw, 0, 6).Draw(t, "first"), rapid.SliceOfN(draw, 0, 6).Draw(t, "second")
		in := draw.Draw(t, "in")
		a, b := union(first...), union(second...)
		inA, inB, inside := moments(first...), moments(second...), moments(in)
		var without, during [longest]bool
		var held, long int64
		for m := range inA {
			without[m] = inA[m] && !inB[m]
			during[m] = inA[m] && inside[m]
			if during[m] {
				held++
			}
			if inA[m] {
				long++
			}
		}
		switch {
		case moments(a...) != inA || moments(a.without(b)...) != without || moments(a.during(in.from, in.to)...) != during:
			t.Fatalf("a %v b %v in %v: without %v, during %v", a, b, in, a.without(b), a.during(in.from, in.to))
		case a.within(in.from, in.to) != held || a.long() != long:
			t.Fatalf("a %v in %v: within %d, long %d", a, in, a.within(in.from, in.to), a.long())
		}
		for i, s := range a {
			if s.from >= s.to || i > 0 && s.from <= a[i-1].to {
				t.Fatalf("%v is not in order", a)
			}
		}
	})
}

func TestFlow(t *testing.T) {
	f := newArrivals([]dueFrame{
		{stretch{0, 1000}, 100, 0}, {stretch{0, 1000}, 50, 0}, // two agents
		{stretch{1000, 1500}, 100, 0}, {stretch{2000, 3000}, 10, 0}, // a gap between
		{stretch{5, 5}, 7, 0}, {stretch{9, 3}, 7, 0}, {stretch{0, 10}, 0, 0}, // nothing
	})
	for _, c := range []struct {
		from, to int64
		want     float64
	}{
		{-500, 0, 0}, {-500, 500, 75}, {0, 1000, 150}, {500, 1250, 125}, {1500, 2000, 0}, {1250, 2500, 55}, {0, 9000, 260}, {4000, 9000, 0},
	} {
		if got := f.due(c.from, c.to); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("due from %d to %d: %v, want %v", c.from, c.to, got, c.want)
		}
	}
	if got := arrivals(nil).due(0, 100); got != 0 {
		t.Errorf("without frames %v are due", got)
	}
}

// Sums of intervals determine the means of buckets that the bounds leave open.
func TestMeansOfBuckets(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var frames []*signals.Frame
	for range 60 {
		fast, slow := 150+random.Int64N(100), random.Int64N(8)
		frames = append(frames, waits(0, 1000, 0.003*float64(fast)+0.2*float64(slow), fast, 0, slow, 0))
	}
	got := means(frames)
	for b, want := range map[bounds]float64{{0, 1e7}: 3e6, {1e8, 1e9}: 2e8} {
		if math.Abs(got[b]-want) > 0.05*want {
			t.Errorf("mean of %v is %v, want %v", b, got[b], want)
		}
	}
	if len(got) != 2 {
		t.Errorf("means of empty buckets: %v", got)
	}
}
