package analysis

import (
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/signals"
)

// drift compares the first third of a trial's measurement with the last. A service
// that had not settled, or whose queue only grows, has no level to describe.
type drift struct {
	p99      []float64 // ms, one per measured client frame
	rate     []float64
	requests int64
}

// A trial drifts if the p99 or the rate of one third is driftFactor times the other's,
// over at least driftFrames frames with driftRequests each on average. The p99 of few
// requests is their maximum, which varies by chance.
//
// Five frames have thirds of one frame each, so their order must show it, too: if nothing
// drifts, each of the 5! orders is as likely as any other, and all frames rise, or all
// fall, in 2 of 120 (an exact permutation test, P 0.017 for each of the two figures). Four
// frames do that in 2 of 24, so no test of their order has an error rate of 5%.
const (
	driftFactor   = 1.5
	driftFrames   = 5
	orderedFrames = 5 // up to so many frames must all rise, or all fall
	driftRequests = 100
)

func (d *drift) add(f *signals.Frame) {
	if f.Phase != signals.Measure || f.Client == nil || f.Client.Latency.Count() == 0 || f.Seconds() <= 0 {
		return
	}
	d.requests += f.Client.Latency.Count()
	d.p99 = append(d.p99, summary.MS(f.Client.Latency.Quantile(0.99)))
	d.rate = append(d.rate, float64(f.Client.Good+f.Client.Carried)/f.Seconds())
}

func (d *drift) unsteady() bool {
	n := len(d.p99)
	return n >= driftFrames && d.requests >= int64(n)*driftRequests && (drifts(d.p99) || drifts(d.rate))
}

func drifts(v []float64) bool {
	return apart(v) && (len(v) > orderedFrames || monotone(v))
}

func monotone(v []float64) bool {
	rises, falls := true, true
	for i := 1; i < len(v); i++ {
		rises, falls = rises && v[i] > v[i-1], falls && v[i] < v[i-1]
	}
	return rises || falls
}

func apart(v []float64) bool {
	third := len(v) / 3
	first, last := mean(v[:third]), mean(v[len(v)-third:])
	return first > driftFactor*last || last > driftFactor*first
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
