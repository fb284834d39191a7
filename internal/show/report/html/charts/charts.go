// Package charts computes the data that the panels of the HTML report are drawn from:
// lines over time, thinned if the record is long, points against the rate, breaking
// points and knees. The scripts of the page draw it; tables and sentences are those of
// package report.
package charts

import (
	"slices"
	"strconv"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/internal/show/narrative"
)

// Charts is what the panels of the HTML report are drawn from, as JSON.
type Charts struct {
	Cells    []chartCell `json:"cells"`
	LoadUnit string      `json:"load_unit"` // of the target: "users" or "requests/s"
	// Dependencies are those that any trial saw; their metrics are in Lines as
	// "dependency_cpu:NAME" and "dependency_memory:NAME".
	Dependencies []string            `json:"dependencies"`
	Warmup       float64             `json:"warmup"`  // seconds since the load began; 0: none
	Drain        *float64            `json:"drain"`   // from when on answers were only awaited; null: never
	X            []float64           `json:"x"`       // seconds since the load began
	Thinned      bool                `json:"thinned"` // long trials: each bucket keeps its lowest and highest
	Lines        map[string][]*lines `json:"lines"`   // by metric, then by cell
	Clouds       []cloud             `json:"clouds"`  // by cell
	Steps        [][]chartStep       `json:"steps"`   // by cell, with staged loads and searches
	// Objective is the latency that all cells were held against; null: none.
	Objective *chartObjective `json:"objective"`
}

// chartCell is a cell as the legend and the curves need it.
type chartCell struct {
	Name        string   `json:"name"`
	CPULimit    *float64 `json:"cpu_limit"`    // cores
	MemoryLimit *float64 `json:"memory_limit"` // bytes
	Rate        *float64 `json:"rate"`
	P50         *float64 `json:"p50"`
	P99         *float64 `json:"p99"`
	P999        *float64 `json:"p999"`
	Throttled   *float64 `json:"throttled"` // 0..1
	// Searched cells have loads of their own, rather than levels.
	Searched bool           `json:"searched"`
	Breaking *chartBreaking `json:"breaking"`
	Knee     *chartKnee     `json:"knee"`
}

// lines are one metric of one cell over time: the median over its trials, and
// where there are several trials their range and each of them.
type lines struct {
	Mid    []*float64   `json:"mid"`
	Low    []*float64   `json:"low,omitempty"`
	High   []*float64   `json:"high,omitempty"`
	Trials [][]*float64 `json:"trials,omitempty"`
}

// cloud is one cell's intervals in the curves, index by index.
type cloud struct {
	Rate      []*float64 `json:"rate"`
	P50       []*float64 `json:"p50"`
	P99       []*float64 `json:"p99"`
	P999      []*float64 `json:"p999"`
	Throttled []*float64 `json:"throttled"`
}

// overTime is a metric that a panel over time shows.
type overTime struct {
	name string
	of   func(*summary.Point) *float64
}

// metrics are those of every record, by the names of Point's JSON.
var metrics = []overTime{
	{"target", whileSent(func(p *summary.Point) *float64 { return p.Target })},
	{"rate", whileSent(func(p *summary.Point) *float64 { return p.RateRPS })},
	{"p50", func(p *summary.Point) *float64 { return p.P50 }},
	{"p99", func(p *summary.Point) *float64 { return p.P99 }},
	{"p999", func(p *summary.Point) *float64 { return p.P999 }},
	{"availability", func(p *summary.Point) *float64 { return p.Availability }},
	{"cpu", func(p *summary.Point) *float64 { return p.CPU }},
	{"memory", func(p *summary.Point) *float64 { return p.Memory }},
	{"throttled", func(p *summary.Point) *float64 { return p.Throttled }},
	{"throttled_ms", func(p *summary.Point) *float64 { return p.ThrottledMS }},
	{"agent_cpu", func(p *summary.Point) *float64 { return p.AgentCPU }},
	{"idle", func(p *summary.Point) *float64 { return p.Idle }},
	{"foreign", func(p *summary.Point) *float64 { return p.Foreign }},
	{"wait_p50", func(p *summary.Point) *float64 { return p.WaitP50 }},
	{"wait_p99", func(p *summary.Point) *float64 { return p.WaitP99 }},
	{"wait_mean", func(p *summary.Point) *float64 { return p.WaitMean }},
}

// metricsOf adds to them the number of replicas, where the platform reports it, and the
// metrics of each dependency.
func metricsOf(series []summary.Series, names []string) []overTime {
	all := slices.Clone(metrics)
	if slices.ContainsFunc(series, func(one summary.Series) bool {
		return slices.ContainsFunc(one.Points, func(p summary.Point) bool { return p.Replicas != nil })
	}) {
		all = append(all, overTime{"replicas", func(p *summary.Point) *float64 { return p.Replicas }})
	}
	for _, name := range names {
		all = append(all,
			overTime{"dependency_cpu:" + name, func(p *summary.Point) *float64 { return p.Dependencies[name].CPU }},
			overTime{"dependency_memory:" + name, func(p *summary.Point) *float64 { return p.Dependencies[name].Memory }})
	}
	return all
}

// dependenciesOf names the dependencies that the series show.
func dependenciesOf(series []summary.Series) []string {
	names := []string{}
	for _, one := range series {
		for i := range one.Points {
			for name := range one.Points[i].Dependencies {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

// whileSent leaves out the drain, in which nothing is sent and the last answers
// trickle in: a fall to nothing would mislead.
func whileSent(of func(*summary.Point) *float64) func(*summary.Point) *float64 {
	return func(p *summary.Point) *float64 {
		if p.Phase == "drain" {
			return nil
		}
		return of(p)
	}
}

// New lays all trials of all cells on one grid of time, which starts with
// each trial's load: the trials of a cell were interleaved with the others' in
// wall time, and are laid over one another here.
func New(d results.Results) Charts {
	s := d.Summary
	names := narrative.CellNames(s)
	out := Charts{
		LoadUnit: "requests/s", Cells: make([]chartCell, len(s.Cells)), Clouds: make([]cloud, len(s.Cells)),
		Steps: make([][]chartStep, len(s.Cells)), Objective: chartObjectiveOf(s), Lines: map[string][]*lines{}, X: []float64{},
	}
	for i := range s.Cells {
		out.Cells[i] = newChartCell(&s.Cells[i], names[i])
		out.Steps[i] = chartSteps(&s.Cells[i])
		if s.Cells[i].Load.Kind == "closed" {
			out.LoadUnit = "users"
		}
	}
	series := known(d.Series, s)
	out.Warmup, out.Drain = phases(series)
	g := newGrid(series)
	out.Dependencies = dependenciesOf(series)
	metrics := metricsOf(series, out.Dependencies)
	thin := newThinning(len(g.moments), pointsPerLine(len(metrics), len(series), len(s.Cells)))
	out.X, out.Thinned = thin.times(g.moments), thin.active()
	byCell := make([][]summary.Series, len(s.Cells))
	for _, one := range series {
		at := s.CellAt(one.Cell)
		byCell[at] = append(byCell[at], one)
	}
	for _, m := range metrics {
		out.Lines[m.name] = make([]*lines, len(s.Cells))
		for i, of := range byCell {
			var trials [][]*float64
			for _, one := range of {
				trials = append(trials, g.lay(one, m.of))
			}
			out.Lines[m.name][i] = newLines(trials, thin)
		}
	}
	for i, of := range byCell {
		out.Clouds[i] = newCloud(of)
	}
	return out
}

// known leaves out series of cells that the summary does not have.
func known(all []summary.Series, s *summary.Summary) []summary.Series {
	var out []summary.Series
	for _, one := range all {
		if s.CellAt(one.Cell) >= 0 && len(one.Points) > 0 {
			out = append(out, one)
		}
	}
	return out
}

func newChartCell(c *summary.Cell, name string) chartCell {
	out := chartCell{Name: name, CPULimit: c.CPU.Limit, Rate: summary.Finite(c.RateRPS), Throttled: summary.Finite(c.ThrottledShare())}
	if out.CPULimit == nil && c.Limits.CPUMillis != nil {
		cores := float64(*c.Limits.CPUMillis) / 1000 * float64(max(1, c.Limits.Replicas))
		out.CPULimit = &cores
	}
	if c.Limits.MemoryBytes != nil {
		bytes := float64(*c.Limits.MemoryBytes)
		out.MemoryLimit = &bytes
	}
	out.Searched, out.Breaking, out.Knee = c.Searched() && !c.Load.Stages, newChartBreaking(c), newChartKnee(c)
	for metric, v := range map[string]**float64{"rate": &out.Rate, "p50": &out.P50, "p99": &out.P99, "p999": &out.P999} {
		if f, ok := verdict.FigureOf(c, metric); ok {
			*v = summary.Finite(&f.Value)
		}
	}
	return out
}

// phases returns until when all trials were warming up, and from when on the
// first of them only awaited answers.
func phases(series []summary.Series) (warmup float64, drain *float64) {
	for _, one := range series {
		before := 0.0
		for _, p := range one.Points {
			if p.Phase == "warmup" {
				warmup = max(warmup, p.T)
			}
			if p.Phase == "drain" && (drain == nil || before < *drain) {
				start := before
				drain = &start
			}
			before = p.T
		}
	}
	return warmup, drain
}

// cloudPoints is how many intervals a cell has at most in the curves.
const cloudPoints = 500

// newCloud gathers a cell's measured intervals. Where they are too many, each
// stretch of time keeps its first interval and the one with the highest p99.
func newCloud(of []summary.Series) cloud {
	var all []*summary.Point
	for _, one := range of {
		for i := range one.Points {
			if p := &one.Points[i]; p.Phase == "measure" && p.RateRPS != nil {
				all = append(all, p)
			}
		}
	}
	p99s := make([]*float64, len(all))
	for i, p := range all {
		p99s[i] = p.P99
	}
	out := cloud{Rate: []*float64{}}
	for _, i := range newThinning(len(all), cloudPoints).samples(p99s) {
		p := all[i]
		out.Rate = append(out.Rate, rounded(p.RateRPS))
		out.P50 = append(out.P50, rounded(p.P50))
		out.P99 = append(out.P99, rounded(p.P99))
		out.P999 = append(out.P999, rounded(p.P999))
		out.Throttled = append(out.Throttled, rounded(p.Throttled))
	}
	return out
}

// newLines draws together a cell's trials; nil where nothing was measured.
func newLines(trials [][]*float64, thin thinning) *lines {
	seen := false
	for _, t := range trials {
		seen = seen || slices.ContainsFunc(t, func(v *float64) bool { return v != nil })
	}
	if !seen {
		return nil
	}
	if len(trials) == 1 {
		return &lines{Mid: thin.pairs(trials[0])}
	}
	mid, low, high := spreads(trials)
	out := &lines{Mid: thin.pairs(mid), Low: thin.lowest(low), High: thin.highest(high)}
	for _, t := range trials {
		out.Trials = append(out.Trials, thin.pairs(t))
	}
	return out
}

// spreads gives, moment by moment, the median, the lowest and the highest of
// the trials that have a value.
func spreads(trials [][]*float64) (mid, low, high []*float64) {
	n := len(trials[0])
	mid, low, high = make([]*float64, n), make([]*float64, n), make([]*float64, n)
	var here []float64
	for k := range n {
		here = here[:0]
		for _, t := range trials {
			if t[k] != nil {
				here = append(here, *t[k])
			}
		}
		if len(here) == 0 {
			continue
		}
		slices.Sort(here)
		m := (here[(len(here)-1)/2] + here[len(here)/2]) / 2
		first, last := here[0], here[len(here)-1]
		mid[k], low[k], high[k] = &m, &first, &last
	}
	return mid, low, high
}

// rounded keeps four significant digits: enough for a pixel, and half the size
// of the page.
func rounded(v *float64) *float64 {
	if summary.Finite(v) == nil {
		return nil
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(*v, 'g', 4, 64), 64)
	if err != nil {
		return nil
	}
	return &r
}
