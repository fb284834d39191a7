package stats

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

var p99 = []float64{0.99}

// stalls returns frames of a throttled service. A quarter of the frames contain a
// stall, in which 20% of their requests wait 50 to 90 ms. All others take 1 to 4 ms.
// So 5% of all requests are slow, and a fifth of them lie above the true p99: 82 ms.
func stalls(random *rand.Rand, frames, requests int) [][]count {
	all := make([][]count, frames)
	for i := range all {
		stalled := random.Float64() < 0.25
		tenths := make([]int64, 900) // of a millisecond: few distinct values make drawing cheap
		for range requests {
			at := 10 + 10*random.IntN(4)
			if stalled && random.IntN(5) == 0 {
				at = 500 + random.IntN(400)
			}
			tenths[at]++
		}
		for at, n := range tenths {
			if n > 0 {
				all[i] = append(all[i], count{int64(at) * 100, n})
			}
		}
	}
	return all
}

const stallsP99 = 82.0

func blocksOf(frames [][]count) *Blocks {
	var b Blocks
	for i, counts := range frames {
		b.trial(0).add(i, counts)
	}
	return &b
}

// TestCoverageBesideStalls shows why whole frames are drawn: intervals that treat
// requests as independent are much too narrow.
func TestCoverageBesideStalls(t *testing.T) {
	const runs, frames, requests = 200, 60, 400
	random := rand.New(rand.NewPCG(7, 8))
	byFrames, byRequests := 0, 0
	for run := range runs {
		b := blocksOf(stalls(random, frames, requests))
		if b.Intervals(p99, Resampling{Seed: uint64(run), Times: 149})[0].Contains(stallsP99) {
			byFrames++
		}
		if naiveInterval(b, 0.99, frames*requests).Contains(stallsP99) {
			byRequests++
		}
	}
	frame, request := float64(byFrames)/runs, float64(byRequests)/runs
	t.Logf("95%% intervals hold the true p99: %.3f by frames, %.3f by requests", frame, request)
	if frame < 0.90 {
		t.Errorf("whole frames: the 95%% interval holds the truth in %.3f of the runs", frame)
	}
	if request > 0.6 {
		t.Errorf("single requests: %.3f of the runs; this test no longer shows why frames are drawn", request)
	}
}

// naiveInterval is the result of resampling n single requests: the rank of the
// quantile in a resample is binomial.
func naiveInterval(b *Blocks, q float64, n int) Interval {
	spread := 1.96 * math.Sqrt(q*(1-q)/float64(n))
	ends := b.Quantiles([]float64{q - spread, q + spread})
	return Interval{Low: ends[0], High: ends[1]}
}

// TestCoverageOverTrials: a restarted service settles at another level. An interval
// for further trials must include that; drawing only from the frames of these trials
// does not.
func TestCoverageOverTrials(t *testing.T) {
	const runs, trials, frames = 150, 12, 20
	const truth = 100.0 // ms: each trial has a level around it, each frame a median around the trial's
	median := []float64{0.5}
	random := rand.New(rand.NewPCG(9, 10))
	byTrials, byFrames := 0, 0
	for run := range runs {
		var b Blocks
		for trial := range trials {
			level := truth + 10*random.NormFloat64()
			for i := range frames {
				middle := int64(level+5*random.NormFloat64()) * 1000
				b.trial(trial).add(i, []count{{middle - 9000, 20}, {middle - 3000, 30}, {middle + 3000, 30}, {middle + 9000, 20}})
			}
		}
		if b.Intervals(median, Resampling{Seed: uint64(run), Times: 149, Trials: true})[0].Contains(truth) {
			byTrials++
		}
		if b.Intervals(median, Resampling{Seed: uint64(run), Times: 149})[0].Contains(truth) {
			byFrames++
		}
	}
	all, frame := float64(byTrials)/runs, float64(byFrames)/runs
	t.Logf("95%% intervals hold the population's median: %.3f by trials, %.3f by frames alone", all, frame)
	if all < 0.88 { // twelve trials: a little below 95%
		t.Errorf("drawing trials too: the interval holds the truth in %.3f of the runs", all)
	}
	if frame > 0.6 {
		t.Errorf("drawing frames alone: %.3f of the runs; this test no longer shows why trials are drawn", frame)
	}
}

func TestIntervalsAreDeterministic(t *testing.T) {
	b := blocksOf(stalls(rand.New(rand.NewPCG(1, 1)), 40, 200))
	quantiles := []float64{0.5, 0.99, 0.999}
	first, again := b.Intervals(quantiles, Resampling{Seed: 3}), b.Intervals(quantiles, Resampling{Seed: 3})
	for i, v := range b.Quantiles(quantiles) {
		if first[i].Low != again[i].Low || first[i].High != again[i].High {
			t.Errorf("quantile %v: %v, then %v", quantiles[i], first[i], again[i])
		}
		if !first[i].Contains(v) {
			t.Errorf("quantile %v is %v, outside its interval %v", quantiles[i], v, first[i])
		}
	}
}

func TestQuantilesAreTheHistograms(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	var b Blocks
	whole := signals.NewHistogram()
	for i := range 30 {
		h := signals.NewHistogram()
		for range 1 + random.IntN(50) {
			h.Record(time.Duration(random.ExpFloat64() * float64(20*time.Millisecond)))
		}
		b.Add(i/10, i%10, h)
		whole.Merge(h)
	}
	for _, q := range []float64{0, 0.001, 0.5, 0.9, 0.99, 0.999, 1} {
		want := float64(whole.Quantile(q)) / float64(time.Millisecond)
		if q == 0 { // HdrHistogram returns the lowest value itself there
			continue
		}
		near(t, "quantile", b.Quantiles([]float64{q})[0], want, 1e-9)
	}
}

func TestAFewFramesGiveNoInterval(t *testing.T) {
	if got := new(Blocks).Intervals(p99, Resampling{})[0]; got != nil {
		t.Errorf("no frame: %v", got)
	}
	b := blocksOf(stalls(rand.New(rand.NewPCG(1, 1)), fewBlocks-1, 100))
	b.Add(0, fewBlocks-1, signals.NewHistogram()) // empty
	b.Add(0, fewBlocks-1, nil)
	if got := b.Intervals(p99, Resampling{})[0]; got != nil {
		t.Errorf("%d frames: %v", fewBlocks-1, got)
	}
}

func TestAgentsShareABlock(t *testing.T) {
	frames := stalls(rand.New(rand.NewPCG(4, 4)), 20, 100)
	var one, two Blocks
	for i, h := range frames {
		other := frames[(i+1)%20]
		one.trial(0).add(i, joined(h, other))
		two.trial(0).add(i, h)
		two.trial(0).add(i, other)
	}
	a, b := one.Intervals(p99, Resampling{})[0], two.Intervals(p99, Resampling{})[0]
	if a.Low != b.Low || a.High != b.High {
		t.Errorf("one agent: %v, two agents: %v", *a, *b)
	}
}

func TestLongTrialsJoinTheirFrames(t *testing.T) {
	frames := stalls(rand.New(rand.NewPCG(4, 4)), 1000, 20)
	var whole []count
	for _, h := range frames {
		whole = joined(whole, h)
	}
	b := blocksOf(frames)
	trial := b.trials[0]
	if n := len(trial.blocks); n != 250 || trial.width != 4 {
		t.Errorf("1000 frames in %d blocks of %d", n, trial.width)
	}
	near(t, "p99", b.Quantiles(p99)[0], blocksOf([][]count{whole}).Quantiles(p99)[0], 0)
}

// BenchmarkIntervals is the cost of one cell in a report: 120 frames of 1,000 requests
// per second with latencies over the whole histogram.
func BenchmarkIntervals(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	var blocks Blocks
	for i := range 120 {
		h := signals.NewHistogram()
		for range 1000 {
			h.Record(time.Duration(random.ExpFloat64() * float64(20*time.Millisecond)))
		}
		blocks.Add(i/20, i%20, h)
	}
	for b.Loop() {
		blocks.Intervals([]float64{0.5, 0.99, 0.999}, Resampling{Seed: 1})
	}
}

// Slow requests that come in bursts of eight blocks, in every second eight, vary as much as
// if each stood for 22: the counts of ten times eight blocks are 40 and 0 in turn, which are
// 20 from their mean of 20, so that Pearson's mean square is 10/9 of 20.
func TestBurstsOfSlowRequests(t *testing.T) {
	for name, c := range map[string]struct {
		slow func(block int) int
		want float64
	}{
		"in bursts": {func(block int) int { return 5 * (1 - block/8%2) }, 20 * 10. / 9},
		"evenly":    {func(int) int { return 5 }, 1},
		"none":      {func(int) int { return 0 }, 1},
	} {
		var b Blocks
		for block := range 80 {
			h := signals.NewHistogram()
			for range 100 {
				h.Record(time.Millisecond)
			}
			for range c.slow(block) {
				h.Record(time.Second)
			}
			b.Add(1+block/40, block%40, h)
		}
		if got := b.Bursts(100_000); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}
