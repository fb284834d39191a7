package analysis

import (
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/signals"
)

// drift compares the first third of a trial's measurement with the last. A service
// that had not settled, or whose queue only grows, has no level to describe. Intervals of
// few requests are joined: their percentiles vary by chance.
type drift struct {
	joined   *signals.Histogram
	good     float64
	seconds  float64
	p50, p99 []float64 // ms, one for each joined interval
	rate     []float64
}

// A trial drifts if the median, the p99 or the rate of one third is driftFactor times the
// other's, and all of its intervals rise or fall more consistently than by chance. Each of
// the three is tested at trendLevel, at which a step in the middle of ten intervals is still
// a trend. It holds for independent intervals; those of a queue are not. A third alone
// shows little: a service with a pause in some of them differs between thirds, too.
const (
	driftFactor   = 1.5
	driftFrames   = 5
	driftRequests = 100
	trendLevel    = 1. / 30
)

func (d *drift) add(f *signals.Frame) {
	if f.Phase != signals.Measure || f.Client == nil || f.Client.Latency.Count() == 0 || f.Seconds() <= 0 {
		return
	}
	if d.joined == nil {
		d.joined = signals.NewHistogram()
	}
	d.joined.Merge(f.Client.Latency)
	d.good += float64(f.Client.Good + f.Client.Carried)
	d.seconds += f.Seconds()
	if d.joined.Count() < driftRequests {
		return
	}
	d.p50 = append(d.p50, summary.MS(d.joined.Quantile(0.5)))
	d.p99 = append(d.p99, summary.MS(d.joined.Quantile(0.99)))
	d.rate = append(d.rate, d.good/d.seconds)
	d.joined, d.good, d.seconds = nil, 0, 0
}

func (d *drift) unsteady() bool { return drifts(d.p50) || drifts(d.p99) || drifts(d.rate) }

func drifts(v []float64) bool {
	return len(v) >= driftFrames && apart(v) && stats.Trend(v) <= trendLevel+1e-9
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
