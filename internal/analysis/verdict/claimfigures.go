package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/phrase"
)

// figure is what one cell, or the ratio of two cells, shows of a metric.
type figure struct {
	cell   *summary.Cell // nil: not in this run, or a ratio
	label  string
	metric string
	value  float64 // NaN: unknown
	low    float64
	high   float64   // infinite: there is no upper end
	of     string    // what the ends rest on
	trials int       // the fewest of its cells
	values []float64 // of the trials, ascending
	why    string    // why the figure allows no verdict; "": it does
	failed bool      // failed requests make it a lower bound
}

// over sets the figure from trials: their median, and the interval or range.
func (f *figure) over(m Metric, values []float64) {
	f.trials = len(values)
	if f.trials == 0 {
		f.why = "not measured for " + f.label + ": " + m.Words
		if f.cell.Load.Stages {
			f.why = "the load of " + f.label + " changes, so no " + m.Words + " over the whole load describes one level; choose the level with at"
		}
		return
	}
	sorted := slices.Sorted(slices.Values(values))
	f.values = sorted
	f.value, f.low, f.high, f.of = stats.Median(sorted), sorted[0], sorted[len(sorted)-1], summary.ByRange
	if low, high, ok := stats.MedianInterval(len(sorted)); ok {
		f.low, f.high, f.of = sorted[low], sorted[high], summary.ByTrials
	}
	if f.trials == 1 {
		f.of, f.why = "", "one trial of "+f.label+" gives no interval; repeat it, ideally six times"
	}
}

// failing makes a latency a lower bound if it is infinite in a trial: requests without
// an answer waited forever, and the value is that of the other requests.
func (f *figure) failing(m Metric) {
	f.failed = f.why == "" && slices.ContainsFunc(f.cell.PerTrial, func(t summary.TrialFigures) bool { return Infinite(&t, m.Name) })
	if f.failed {
		f.high = math.Inf(1)
	}
}

// breaking sets a breaking point with its own interval, also that of a single search.
func (f *figure) breaking(b *summary.BreakingPoint) {
	switch {
	case b == nil:
		f.why = "the breaking point of " + f.label + " was not searched for"
		return
	case b.Load() == nil || b.Low == nil:
		f.why = "no breaking point of " + f.label + " was found"
		if b.Reason != "" {
			f.why += ": " + b.Reason
		}
		return
	}
	f.trials = max(b.Searches, 1)
	f.value, f.low, f.high = *b.Load(), *b.Low, math.Inf(1)
	switch {
	case b.OverStarts():
		f.of = summary.ByTrials
	case f.trials > 1:
		f.of = summary.ByRange
	case f.cell.Load.Find:
		f.of = summary.BySearch
	default:
		f.of = summary.ByLevels
	}
	if b.High != nil {
		f.high = *b.High
	}
}

// unrepeated rejects a figure that is compared with another cell's if it comes from too
// few starts of the service to show how starts differ.
func (f *figure) unrepeated() {
	what := "trial"
	switch {
	case f.why != "" || f.metric == memoryGrowthMetric:
		return
	case f.cell.Kept:
		f.why = f.label + " was not restarted between its trials (restart: false), so they show one start only, and starts differ"
		return
	case f.trials >= MinRanked:
		return
	case f.metric == BreakingPointMetric && f.cell.Load.Find:
		what = "search"
	case f.metric == BreakingPointMetric:
		what = "ramp"
	}
	f.why = fmt.Sprintf("%s of %s: too few to show how starts differ; a comparison needs at least %d per cell (measure.repeats)",
		phrase.Plural(f.trials, what), f.label, MinRanked)
}

// growth sets how much the memory peak of a service that stayed up grew from its first
// trial to its last. The sample is the growth in each step. The ends are the smallest
// and the largest of them, to the power of the number of steps.
func (f *figure) growth(kept bool) {
	peaks := f.cell.MemoryPeaks()
	f.trials = len(peaks)
	switch {
	case !kept:
		f.why = f.label + " was restarted for each trial, so nothing can grow from one trial to the next (measure.kept)"
		return
	case len(peaks) == 0 || slices.Min(peaks) <= 0:
		f.why = "the memory of " + f.label + " was not measured"
		return
	case len(peaks) == 1:
		f.why = "one trial of " + f.label + " shows no growth; repeat it"
		return
	}
	steps := len(peaks) - 1
	least, most := math.Inf(1), 0.0
	for i := range steps {
		step := peaks[i+1] / peaks[i]
		least, most = min(least, step), max(most, step)
	}
	f.value = peaks[steps] / peaks[0]
	f.low, f.high, f.of = math.Pow(least, float64(steps)), math.Pow(most, float64(steps)), summary.ByRange
	if steps == 1 {
		f.of, f.why = "", "two trials of "+f.label+" show one step of growth, and no interval; repeat it"
	}
}

// disturbed rejects a figure that others or the agent influenced, or removes its upper
// end if the generator was the limit.
func (f *figure) disturbed(m Metric) {
	latency := m.Unit == "ms" && m.Name != "insert_p99" && m.Name != "cpu_per_request"
	switch {
	case f.why != "":
	case f.cell.Generator.Limited && m.Name == "memory_peak": // the load that would fill it was not reached
		f.high = math.Inf(1)
	case ofMemory(m.Name):
	case f.disturbedBy() != "":
		f.why = f.disturbedBy() + " took CPU while " + f.label + " was measured"
	case f.cell.Generator.Limited && (m.counts() || m.events()):
		f.high = math.Inf(1)
	case f.cell.Generator.Limited:
		f.why = "the generator was the limit of " + f.label + ", not the service"
	case latency && f.cell.Generator.SentLate:
		f.why = "the requests of " + f.label + " were sent late, so part of the latency is the generator's"
	case latency && generatorsLatency(f.cell, m.Name):
		f.why = "the slow tail of " + f.label + " is mostly the generator's own delay"
	case latency && f.cell.Has(summary.FlagAgentWaited):
		f.why = "the agent waited for a CPU while " + f.label + " was measured, so part of the latency is the agent's"
	}
}

// disturbedBy names who took so much CPU during the cell's trials that its figures may
// be distorted; "": nobody.
func (f *figure) disturbedBy() string {
	var who []string
	if f.cell.Has(summary.FlagBusyNeighbour) {
		who = append(who, "other processes")
	}
	if f.cell.Has(summary.FlagBusyHypervisor) {
		who = append(who, "the hypervisor")
	}
	return strings.Join(who, " and ")
}

// ratio divides one figure by another. Its ends combine the ends of both intervals
// that lie farthest apart, so it may be too wide, but never too narrow.
func ratio(a, b figure) figure {
	f := a.and(b)
	f.label, f.value = a.label+" over "+b.label, a.value/b.value
	switch {
	case f.why != "" && (a.of == "" || b.of == "" || f.metric == BreakingPointMetric):
		f.of = ""
	case b.high == 0:
		f.of, f.value = "", math.NaN()
		if f.why == "" {
			f.why = b.label + " is 0, and a ratio to 0 is not defined"
		}
	case math.IsInf(a.high, 1) && math.IsInf(b.high, 1):
		f.of, f.value, f.why = "", math.NaN(), "both are lower bounds"
	default:
		f.low, f.high = a.low/b.high, 0 // also 0 if there is no upper end
		if a.high > 0 {
			f.high = a.high / b.low // infinite if b may be 0
		}
	}
	if math.IsInf(f.value, 0) {
		f.value = math.NaN()
	}
	return f
}

// and combines what two figures rest on: the weaker of the two.
func (f figure) and(o figure) figure {
	out := figure{metric: f.metric, value: math.NaN(), trials: min(f.trials, o.trials), of: f.of, why: f.why}
	if out.why == "" {
		out.why = o.why
	}
	for _, weak := range []string{summary.ByTrials, summary.BySearch, summary.ByRange, summary.ByLevels, ""} { // the last match counts
		if f.of == weak || o.of == weak {
			out.of = weak
		}
	}
	return out
}

// basis describes the interval as the subject of a sentence.
func (f *figure) basis() string {
	switch {
	case f.of == summary.ByRange && f.metric == memoryGrowthMetric:
		return fmt.Sprintf("the range of its %d steps", f.trials-1)
	case f.of == summary.ByRange:
		return fmt.Sprintf("the range of %d trials, too few for a 95%% interval,", f.trials)
	case f.of == summary.ByLevels:
		return "the range between the levels"
	case f.of == summary.BySearch:
		return "the 95% interval of one search"
	}
	return "the 95% interval"
}

// claimed returns the figure in the form of the summary.
func (f *figure) claimed() summary.ClaimedCell {
	out := summary.ClaimedCell{Label: f.label, Trials: f.trials, IntervalOf: f.of}
	known := func(v float64) *float64 {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	out.Value = known(f.value)
	if f.of != "" {
		out.Low, out.High = known(f.low), known(f.high)
	}
	if f.cell != nil {
		out.Cell = new(f.cell.Cell)
	}
	return out
}
