package verdict

import (
	"math"
	"strings"

	"github.com/millicore/millicore/internal/analysis/causes"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
)

// Ranking is the tests of one figure between all cells of a record. The probability
// that it places one or more cells falsely is at most 5%.
type Ranking struct {
	metric  string
	cells   []*summary.Cell
	samples []sample
	at      []int // of each cell in ranks; -1: it is not tested
	ranks   stats.Ranks
	rounds  *stats.Rounds // of the two that are tested, where the rounds show a trend; else nil
	// measured is the number of cells that have the figure; tested is that of the cells
	// that are ranked together.
	measured, tested int
}

// Rank tests a figure, by its field path, between all cells of a record.
func Rank(s *summary.Summary, path string) *Ranking {
	return rank(path, pointers(s.Cells))
}

func pointers(cells []summary.Cell) []*summary.Cell {
	all := make([]*summary.Cell, len(cells))
	for i := range cells {
		all[i] = &cells[i]
	}
	return all
}

func rank(path string, cells []*summary.Cell) *Ranking {
	r := &Ranking{metric: path, cells: cells}
	var tested [][]stats.Observed
	for _, c := range cells {
		s := sampleOf(c, path)
		r.samples = append(r.samples, s)
		if s.gap != summary.NoFigure {
			r.measured++
		}
		if s.gap != "" {
			r.at = append(r.at, -1)
			continue
		}
		r.at = append(r.at, len(tested))
		tested = append(tested, s.values)
	}
	if r.tested = len(tested); r.enough(tested) {
		r.ranks = stats.Rank(tested)
	}
	if len(tested) == 2 && r.byTurns() {
		if r.rounds = stats.InRounds(tested[0], tested[1]); r.rounds != nil {
			sign, p := r.rounds.Sign, r.rounds.P
			r.ranks = stats.Ranks{Sign: [][]int{{0, sign}, {-sign, 0}}, P: [][]float64{{1, p}, {p, 1}}, PFamily: [][]float64{{1, p}, {p, 1}}}
		}
	}
	return r
}

// enough reports whether samples as long as the longest can be found to differ. Else none of the
// tests is needed, of which a record of many cells has many.
func (r *Ranking) enough(samples [][]stats.Observed) bool {
	most := 0
	for _, s := range samples {
		most = max(most, len(s))
	}
	return r.decides(most, most)
}

// decides reports whether samples of these sizes can be found to differ.
func (r *Ranking) decides(m, n int) bool { return stats.LeastFamilyP(m, n, r.tested) < 1-stats.Level }

// byTurns reports whether the two tested cells were measured by turns: each has a value of
// all of its trials, and both have had one more trial before either has the next. These are
// the rounds.
func (r *Ranking) byTurns() bool {
	var two []*summary.Cell
	for i, c := range r.cells {
		if r.at[i] >= 0 && len(r.samples[i].values) == len(c.PerTrial) {
			two = append(two, c)
		}
	}
	if len(two) != 2 || len(two[0].PerTrial) != len(two[1].PerTrial) {
		return false
	}
	ended := 0
	for i := range two[0].PerTrial {
		a, b := two[0].PerTrial[i].Trial, two[1].PerTrial[i].Trial
		if min(a, b) <= ended {
			return false
		}
		ended = max(a, b)
	}
	return true
}

// Between is the evidence for where x lies from y.
func (r *Ranking) Between(x, y *summary.Cell) summary.Evidence {
	e := summary.Evidence{Metric: r.metric, Basis: summary.Untested, P: 1, PFamily: 1, Cells: r.measured}
	a, b := r.index(x), r.index(y)
	if a < 0 || b < 0 {
		e.Gap = summary.NoFigure
		return e
	}
	e.Cell, e.Other = x.Cell, y.Cell
	one, other := &r.samples[a], &r.samples[b]
	e.Trials = [2]int{len(one.values), len(other.values)}
	switch {
	case one.gap != "":
		e.Gap = one.gap
		return e
	case other.gap != "":
		e.Gap = other.gap
		return e
	case !r.decides(len(one.values), len(other.values)):
		e.Gap = summary.FewTrials
		return e
	}
	e.Basis, e.Cells = summary.OverTrials, r.tested
	if one.censored() || other.censored() {
		e.Basis = summary.CensoredRanks
	}
	a, b = r.at[a], r.at[b]
	e.P, e.PFamily = r.ranks.P[a][b], r.ranks.PFamily[a][b]
	if e.PFamily < 1-stats.Level {
		e.Sign = r.ranks.Sign[a][b]
	}
	return e
}

func (r *Ranking) index(c *summary.Cell) int {
	if c.Cell >= 0 && c.Cell < len(r.cells) && r.cells[c.Cell] == c {
		return c.Cell
	}
	for i, one := range r.cells {
		if one == c {
			return i
		}
	}
	return -1
}

// Gap is why a cell cannot be tested against any other; "": it can.
func (r *Ranking) Gap(c *summary.Cell) summary.Gap {
	at := r.index(c)
	if at < 0 {
		return summary.NoFigure
	}
	if gap := r.samples[at].gap; gap != "" {
		return gap
	}
	for _, other := range r.cells {
		if other != c && r.Between(c, other).Basis != summary.Untested {
			return ""
		}
	}
	return summary.FewTrials
}

// Needs is the number of trials per cell that ranking so many cells takes.
func Needs(cells int) int { return max(MinRanked, stats.RankingNeeds(cells)) }

// MinRanked is the fewest trials, searches or ramps of a cell that are compared with
// those of another. Starts of one service differ, and what one start shows, however
// precisely, holds for that start only. Four against four without overlap have P 0.029.
const MinRanked = 4

// sample is a figure of each trial of a cell, as it is ranked.
type sample struct {
	values []stats.Observed
	gap    summary.Gap // why it is not tested
}

func (s *sample) censored() bool {
	for _, v := range s.values {
		if !v.Known() || math.IsInf(v.Low, 0) {
			return true
		}
	}
	return false
}

// sampleOf returns the figure under a field path in each trial of a cell. A latency of
// all requests is infinite if too many of them failed. A search or a ramp that gave
// only a bound ranks by this bound, and one that missed at its lowest load, or whose
// service died there, ranks below all others. Trials that could not be judged are left
// out.
func sampleOf(c *summary.Cell, path string) (s sample) {
	m, latency := metricAt(path)
	switch {
	case strings.HasPrefix(path, summary.BenchmarksPrefix):
		for i := range c.Benchmarks {
			if b := &c.Benchmarks[i]; b.Path() == path {
				for _, v := range b.Values {
					s.values = append(s.values, stats.Known(v))
				}
			}
		}
	case m.Of != nil:
		s.values = m.Sample(c)
	}
	switch {
	case len(s.values) == 0:
		s.gap = summary.NoFigure
	case c.Kept && len(s.values) > 1:
		s.gap = summary.OneStart
	case latency && !Supports(c, m.Name):
		s.gap = summary.FewRequests
	case len(s.values) < MinRanked:
		s.gap = summary.FewTrials
	default:
		s.gap = Spoiled(c, path)
	}
	return s
}

// Spoiled is why a figure of the cell, by its field path, is not one of the service alone:
// DisturbedTrials or GeneratorsDelay; "": it is. A breaking point leaves out what is
// disturbed, and memory hardly depends on others.
func Spoiled(c *summary.Cell, path string) summary.Gap {
	m, latency := metricAt(path)
	switch {
	case c.MostlyDisturbed() && !ofMemory(path) && path != BreakingPointMetric:
		return summary.DisturbedTrials
	case latency && generatorsLatency(c, m.Name):
		return summary.GeneratorsDelay
	}
	return ""
}

// generatorsLatency reports whether a latency quantile of the cell is one of the
// generator: its slow tail is, and the quantile lies in the tail.
func generatorsLatency(c *summary.Cell, quantile string) bool {
	if !causes.GeneratorsTail(c) {
		return false
	}
	share, known := summary.ShareOf(quantile)
	from, ok := summary.ShareOf(c.Causes.Quantile)
	return known && (!ok || share >= from)
}

// metricAt finds the metric under a field path, and whether it is a latency.
func metricAt(path string) (m Metric, latency bool) {
	switch path {
	case "rate_rps":
		path = "rate"
	default:
		path, latency = strings.CutPrefix(path, summary.LatencyPrefix)
	}
	m, _ = MetricOf(path)
	return m, latency
}

// Sample returns the metric in each trial that measured it, or what is known of it. A
// trial in which no request was answered is infinitely late. A cell of such trials only has
// no figure.
func (m Metric) Sample(c *summary.Cell) []stats.Observed {
	var all []stats.Observed
	unanswered := 0
	for i := range c.PerTrial {
		t := &c.PerTrial[i]
		switch v := m.Of(t); {
		case v != nil && Infinite(t, m.Name):
			all = append(all, stats.Known(math.Inf(1)))
		case m.unanswered(t):
			all = append(all, stats.Known(math.Inf(1)))
			unanswered++
		case v != nil && m.counts() && c.Generator.Limited: // more could not be sent
			all = append(all, stats.Observed{Low: *v, High: math.Inf(1)})
		case v != nil:
			all = append(all, stats.Known(*v))
		case m.Name == BreakingPointMetric && (t.BreakingFrom != nil || t.BreakingTo != nil):
			all = append(all, bracketOf(t))
		}
	}
	if unanswered == len(all) {
		return nil
	}
	return all
}

// bracketOf is what is known of a breaking point that has no value of its own.
func bracketOf(t *summary.TrialFigures) stats.Observed {
	o := stats.Observed{Low: math.Inf(-1), High: math.Inf(1)}
	if t.BreakingFrom != nil {
		o.Low = *t.BreakingFrom
	}
	if t.BreakingTo != nil {
		o.High = *t.BreakingTo
	}
	return o
}

// Support is the number of requests beyond a quantile from which it has an interval by
// frames, and is ranked. With 100 requests p99 is the second highest latency, and the
// nominal 95% interval of 20 frames with 5 requests each contains the truth in 68% of
// the cases.
const Support = 10

// RequestsFor is the number of requests that ranking by a quantile takes: 1,000 for p99.
func RequestsFor(quantile string) int64 {
	return int64(math.Round(Support / (1 - summary.QuantileShare(quantile))))
}

// Supports reports whether the cell's requests are enough for a quantile. It reports
// true if their number is not known.
func Supports(c *summary.Cell, quantile string) bool {
	share, ok := summary.ShareOf(quantile)
	return !ok || share == 1 || c.Requests == 0 || float64(c.Requests)*(1-share) >= Support-1e-6
}
