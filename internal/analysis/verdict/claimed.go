package verdict

import (
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
)

// claimed is what one cell, or the ratio of two cells, shows of a metric.
type claimed struct {
	cell    *summary.Cell // nil: not in this run, or a ratio
	label   string
	metric  string
	value   float64 // NaN: unknown
	low     float64
	high    float64         // infinite: there is no upper end
	of      string          // what the ends rest on; "": there are none
	open    bool            // the generator was the limit, and more load would give more
	trials  int             // the fewest of its cells
	refused finding.Finding // why the figure allows no verdict; none: it does
}

// figure returns a metric of the cell that a selector names, at one level of its load,
// or with nil over the whole load.
func (j *Claims) figure(m Metric, s *experiment.Selector, at *float64) claimed {
	f := claimed{label: s.Label(), metric: m.Name, value: math.NaN()}
	if s.Cell < 0 || s.Cell >= len(j.Cells) {
		f.refuse(finding.NoSuchCell)
		return f
	}
	f.cell = &j.Cells[s.Cell]
	f.label = f.cell.Label
	if at != nil && f.cell.Trials > 0 {
		level, ok := j.At(s.Cell, *at)
		if !ok {
			f.refuse(finding.NoSuchLevel)
			f.refused.Load = *at
			return f
		}
		f.cell, f.label = &level, level.Label
	}
	switch {
	case f.cell.Trials == 0:
		f.refuse(finding.NothingMeasured)
		if s.Cell < len(j.Absent) {
			f.refused.Text = j.Absent[s.Cell]
		}
	case m.Name == BreakingPointMetric:
		f.breaking(f.cell.Breaking)
	case m.Name == memoryGrowthMetric:
		f.growth(j.Experiment.Measure.Kept)
	default:
		f.over(m)
	}
	return f
}

func (f *claimed) refuse(kind finding.Kind) {
	f.refused = finding.Finding{Kind: kind, Names: []string{f.label}}
}

// over sets the figure from trials: their median, with its interval or their range.
func (f *claimed) over(m Metric) {
	one, _ := FigureOf(f.cell, m.Name)
	f.trials = one.Trials
	if f.trials == 0 {
		f.refuse(finding.MetricNotMeasured)
		if f.cell.Load.Stages {
			f.refuse(finding.NoSingleLevel)
		}
		f.refused.Text = m.Words
		return
	}
	f.value = one.Value
	low, high, sure := endsOf(f.cell, m.Name)
	switch sure {
	case IntervalOfTrials:
		f.low, f.high, f.of = low, high, summary.ByTrials
	case RangeOfTrials:
		f.low, f.high, f.of = low, high, summary.ByRange
	default: // one trial
		f.low, f.high = one.Value, one.Value
	}
	if f.open = f.cell.Generator.Limited && (m.counts() || m.events() || m.Name == "memory_peak"); f.open {
		f.high = math.Inf(1)
	}
	if f.refused = f.notTheServices(m); f.of == "" {
		f.refuse(finding.OneTrial)
	}
}

// notTheServices is why a figure is not one of the service alone: others took CPU in a
// trial, or most trials were disturbed, or the generator shaped it. One trial beside others
// is enough: if they raised two of six trials of a cell, a false claim about a ratio would
// be reproduced in 9% of the runs, and with three in 18%.
func (f *claimed) notTheServices(m Metric) (why finding.Finding) {
	c, latency := f.cell, m.Unit == "ms" && m.Name != "insert_p99" && m.Name != "cpu_per_request"
	gap := Spoiled(c, m.path())
	why.Names = []string{f.label}
	switch why.Who = besides(c); {
	case ofMemory(m.Name):
	case why.Who != 0:
		why.Kind = finding.Disturbed
	case gap == summary.DisturbedTrials:
		why.Kind = finding.MostlyDisturbed
	case f.open:
	case c.Generator.Limited:
		why.Kind = finding.GeneratorWasLimit
	case latency && c.Generator.SentLate:
		why.Kind = finding.SentLate
	case gap == summary.GeneratorsDelay:
		why.Kind = finding.TailIsGenerators
	}
	return why
}

// besides returns who took so much CPU in a trial of a cell that its figures may be
// distorted.
func besides(c *summary.Cell) (who finding.Source) {
	if c.Has(summary.FlagBusyNeighbour) {
		who |= finding.Neighbour
	}
	if c.Has(summary.FlagBusyHypervisor) {
		who |= finding.Hypervisor
	}
	return who
}

// breaking sets a breaking point with its own interval, also that of a single search.
func (f *claimed) breaking(b *summary.BreakingPoint) {
	switch {
	case b == nil:
		f.refuse(finding.NotSearched)
		return
	case b.Load() == nil || b.Low == nil:
		f.refuse(finding.NoneFound)
		f.refused.Because = b.Why
		return
	}
	one := breakingContender(f.cell, f.label)
	f.trials = max(one.Trials, 1)
	f.value, f.low, f.high = one.Value, one.Low, one.High
	switch {
	case one.Sure == IntervalOfTrials:
		f.of = summary.ByTrials
	case f.trials > 1:
		f.of = summary.ByRange
	case f.cell.Load.Find:
		f.of = summary.BySearch
	default:
		f.of = summary.ByLevels
	}
}

// growth sets how much the memory peak of a service that stayed up grew from its first
// trial to its last. The sample is the growth in each step. The ends are the smallest
// and the largest of them, to the power of the number of steps.
func (f *claimed) growth(kept bool) {
	peaks := f.cell.MemoryPeaks()
	f.trials = len(peaks)
	switch {
	case !kept:
		f.refuse(finding.RestartedEachTrial)
		return
	case len(peaks) == 0 || slices.Min(peaks) <= 0:
		f.refuse(finding.MemoryNotMeasured)
		return
	case len(peaks) == 1:
		f.refuse(finding.OneTrialNoGrowth)
		return
	}
	steps := len(peaks) - 1
	least, most := math.Inf(1), 0.0
	for i := range steps {
		step := peaks[i+1] / peaks[i]
		least, most = min(least, step), max(most, step)
	}
	f.value = peaks[steps] / peaks[0]
	if steps == 1 {
		f.refuse(finding.OneStepOfGrowth)
		return
	}
	f.low, f.high, f.of = math.Pow(least, float64(steps)), math.Pow(most, float64(steps)), summary.ByRange
}

// ratio divides the figure of one cell by that of another. Its ends are those multiples
// of the second cell that the test of compare cannot exclude.
func ratio(m Metric, a, b *claimed) claimed {
	f := claimed{metric: m.Name, value: math.NaN(), trials: min(a.trials, b.trials)}
	if f.refused = a.refused; f.refused.None() {
		f.refused = b.refused
	}
	if a.cell == nil || b.cell == nil {
		return f
	}
	if v := a.value / b.value; !math.IsInf(v, 0) {
		f.value = v
	}
	if !f.refused.None() {
		return f
	}
	starts, ofStarts := a.starts(m), b.starts(m)
	f.trials = min(len(starts), len(ofStarts))
	switch {
	case m.Of == nil, a.cell.Kept, b.cell.Kept:
		f.refused = untested(a, b, summary.OneStart, f.trials, 2)
	case f.trials < MinRanked:
		f.refused = untested(a, b, summary.FewTrials, f.trials, 2)
	case b.value == 0:
		f.refused = finding.Finding{Kind: finding.RatioToZero, Names: []string{b.label}}
	case math.IsInf(a.high, 1) && math.IsInf(b.high, 1):
		f.value, f.refused = math.NaN(), finding.Finding{Kind: finding.BothLowerBounds}
	default:
		interval := stats.CensoredFactor(ofStarts, starts)
		f.low, f.high, f.of = interval.Low, interval.High, summary.ByTrials
	}
	return f
}

// starts are the figure of each start of the service, or what is known of it.
func (f *claimed) starts(m Metric) []stats.Observed {
	if m.Of == nil {
		return nil
	}
	all := m.Sample(f.cell)
	for i := range all {
		if f.open {
			all[i].High = math.Inf(1)
		}
	}
	return all
}

// basis is what the ends of the figure rest on.
func (f *claimed) basis() finding.Finding {
	switch {
	case f.of == summary.ByRange && f.metric == memoryGrowthMetric:
		return finding.Finding{Kind: finding.RangeOfSteps, N: f.trials - 1}
	case f.of == summary.ByRange:
		return finding.Finding{Kind: finding.RangeOfTrials, N: f.trials}
	case f.of == summary.ByLevels:
		return finding.Finding{Kind: finding.RangeOfLevels}
	case f.of == summary.BySearch:
		return finding.Finding{Kind: finding.IntervalOfSearch}
	}
	return finding.Finding{Kind: finding.Interval}
}

// summary returns the figure in the form of summary.json.
func (f *claimed) summary() summary.ClaimedCell {
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
