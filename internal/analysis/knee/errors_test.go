package knee

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/test/testkit"
)

// A design is the loads that are held, in requests/s, and for how long.
type design struct {
	name    string
	loads   []float64
	seconds float64
	trials  int
}

// of returns a design whose highest load is as given.
func designs(highest float64) []design {
	ten := steps(highest/10, highest, highest/10)
	return []design{
		{"ramp, 10 levels of 5 s", ten, 5, 1},
		{"ramp, 10 levels of 5 s, 3 trials", ten, 5, 3},
		{"search, 14 windows of 5 s", scaled(highest, 0.0625, 0.125, 0.25, 0.5, 1, 0.75, 0.62, 0.69, 0.72, 0.71, 0.7, 0.7, 0.7, 0.7), 5, 1},
	}
}

func scaled(by float64, shares ...float64) (all []float64) {
	for _, s := range shares {
		all = append(all, s*by)
	}
	return all
}

// A simulated service gives the latencies of the requests of a window, in seconds.
type simulated func(load, seconds float64, r *rand.Rand) []float64

// independent requests have one distribution of latency at every load, times a factor.
func independent(latency func(*rand.Rand) float64, factor func(load float64, r *rand.Rand) float64) simulated {
	return func(load, seconds float64, r *rand.Rand) []float64 {
		all := make([]float64, int(load*seconds))
		by := factor(load, r)
		for i := range all {
			all[i] = by * latency(r)
		}
		return all
	}
}

func always(float64, *rand.Rand) float64 { return 1 }

func exponential(r *rand.Rand) float64 { return 0.005 * r.ExpFloat64() }

// pareto has a tail that falls with the power 1.5: its variance is infinite.
func pareto(r *rand.Rand) float64 { return 0.002 * math.Pow(1-r.Float64(), -1/1.5) }

// stalls make one window in ten up to ten times as slow, as a pause of the machine does.
func stalls(_ float64, r *rand.Rand) float64 {
	if r.Float64() < 0.1 {
		return math.Exp(math.Log(10) * r.Float64())
	}
	return math.Exp(0.1 * r.NormFloat64())
}

// queue is a single server with random arrivals. In each period of 100 ms it may work
// for a part of the period: 1 is no limit.
func queue(work func(*rand.Rand) float64, part float64) simulated {
	const period = 0.1
	return func(load, seconds float64, r *rand.Rand) (all []float64) {
		at, free, index, left := 0.0, 0.0, -1, 0.0
		for at < seconds {
			at += r.ExpFloat64() / load
			free = max(free, at)
			for need := work(r); need > 0; {
				if now := int(free/period + 1e-9); now != index {
					index, left = now, part*period
				}
				end := float64(index+1) * period
				if left <= 1e-12 {
					free = end
					continue
				}
				run := min(need, left, max(end-free, 1e-9))
				need, left, free = need-run, left-run, free+run
			}
			all = append(all, free-at)
		}
		return all
	}
}

// found is the share of simulated measurements in which a knee is found.
func found(d design, s simulated, runs int) float64 {
	n := 0
	for run := range runs {
		r := rand.New(rand.NewPCG(11, uint64(run)))
		var points []Point
		for range d.trials {
			for _, load := range d.loads {
				h := signals.NewHistogram()
				for _, seconds := range s(load, d.seconds, r) {
					h.Record(time.Duration(seconds * float64(time.Second)))
				}
				if p, ok := PointOf(load, h, 0.99); ok {
					points = append(points, p)
				}
			}
		}
		if k, _ := Find(points, uint64(run)); k != nil {
			n++
		}
	}
	return float64(n) / float64(runs)
}

// TestErrorRates measures how often a knee is found where there is none, and where there
// is one. docs/statistics.md has its table.
func TestErrorRates(t *testing.T) {
	runs := testkit.Samples(30, 80, 2000)
	fixed := func(d float64) func(*rand.Rand) float64 { return func(*rand.Rand) float64 { return d } }
	work := func(r *rand.Rand) float64 { return 0.002 * r.ExpFloat64() }
	for _, c := range []struct {
		name    string
		highest float64 // requests/s
		s       simulated
		knee    bool
	}{
		{"flat, exponential", 1000, independent(exponential, always), false},
		{"flat, exponential, 1 to 10 requests above p99", 200, independent(exponential, always), false},
		{"flat, Pareto", 1000, independent(pareto, always), false},
		{"flat, Pareto, 1 to 10 requests above p99", 200, independent(pareto, always), false},
		{"flat, one window in ten is slow", 1000, independent(exponential, stalls), false},
		{"straight line, +50%", 1000, independent(exponential, func(l float64, _ *rand.Rand) float64 { return 1 + l/2000 }), false},
		{"straight line, 4 times", 1000, independent(exponential, func(l float64, _ *rand.Rand) float64 { return 1 + 3*l/1000 }), false},
		{"straight line of the logarithm, 4 times", 1000, independent(exponential, func(l float64, _ *rand.Rand) float64 { return math.Pow(4, l/1000) }), false},
		{"straight line of the logarithm, 2 times, few requests", 200, independent(pareto, func(l float64, _ *rand.Rand) float64 { return math.Pow(2, l/200) }), false},
		{"M/M/1 to 95% of its capacity", 475, queue(work, 1), true},
		{"M/D/1 to 95% of its capacity", 475, queue(fixed(0.002), 1), true},
		{"quota of half a CPU, to 95%", 475, queue(func(r *rand.Rand) float64 { return 0.001 * r.ExpFloat64() }, 0.5), true},
		{"M/M/1 beyond its capacity", 650, queue(work, 1), true},
		{"quota of half a CPU, beyond its capacity", 650, queue(func(r *rand.Rand) float64 { return 0.001 * r.ExpFloat64() }, 0.5), true},
	} {
		for _, d := range designs(c.highest) {
			t.Run(c.name+"/"+d.name, func(t *testing.T) {
				share := found(d, c.s, runs)
				t.Logf("| %s | %s | %.1f%% |", c.name, d.name, 100*share)
				chance := 3 * math.Sqrt(0.05*0.95/float64(runs))
				if !c.knee && share > 0.05+chance {
					t.Errorf("a knee where there is none in %.1f%% of %d measurements", 100*share, runs)
				}
			})
		}
	}
}
