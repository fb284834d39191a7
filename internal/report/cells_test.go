package report

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis"
)

func ptr[T any](v T) *T { return &v }

// Small builders, so that a case says only what it is about.

type change func(*analysis.CellSummary)

// cellOf is a cell that answered 400 requests/s, all of them well, without
// latency, limits or trials.
func cellOf(service string, changes ...change) analysis.CellSummary {
	c := analysis.CellSummary{Service: service, Label: service, RateRPS: ptr(400.0), Availability: ptr(100.0), Requests: 8000,
		Load: analysis.LoadSummary{Kind: "closed", Users: ptr(50.0)}, Vary: map[string]*string{}, Intervals: map[string][2]float64{}}
	for _, apply := range changes {
		apply(&c)
	}
	return c
}

func procs(n string, changes ...change) analysis.CellSummary {
	return cellOf("go", append([]change{func(c *analysis.CellSummary) {
		c.Vary["procs"], c.Label = &n, "go procs="+n
	}}, changes...)...)
}

func p99At(ms float64) change {
	return func(c *analysis.CellSummary) { c.LatencyMS = &analysis.Quantiles{P50: ms / 2, P99: ms} }
}

// within sets the 95% interval of the p99.
func within(low, high float64) change {
	return func(c *analysis.CellSummary) { c.Intervals["latency_ms.p99"] = [2]float64{low, high} }
}

// frames says that the intervals rest on the frames of few trials.
func frames(c *analysis.CellSummary) { c.IntervalsOf = "frames" }

// trials sets the trials' own p99.
func trials(p99s ...float64) change {
	return func(c *analysis.CellSummary) {
		c.Trials = len(p99s)
		for _, v := range p99s {
			c.PerTrial = append(c.PerTrial, analysis.TrialFigures{P99: ptr(v)})
		}
	}
}

// breaksBetween gives a cell a breaking point in requests/s, of six searches.
func breaksBetween(low, rps, high float64, by string) change {
	return func(c *analysis.CellSummary) {
		c.Load = analysis.LoadSummary{Kind: "open"}
		c.Breaking = &analysis.BreakingPoint{RateRPS: &rps, Low: &low, High: &high, LimitedBy: by, Searches: 6}
	}
}

// searches sets how many searches, or ramps, a breaking point rests on.
func searches(n int) change {
	return func(c *analysis.CellSummary) { c.Breaking.Searches = n }
}

// staged says that the breaking point was read from ramps.
func staged(c *analysis.CellSummary) { c.Load.Stages = true }

// noPoint gives a cell a search without an answer.
func noPoint(reason string) change {
	return func(c *analysis.CellSummary) {
		c.RateRPS, c.Availability, c.LatencyMS, c.Requests = nil, nil, nil, 0
		c.Breaking = &analysis.BreakingPoint{Reason: reason}
	}
}

func TestTheLatenciesOfTheTableAndOfTheTestsAreNamed(t *testing.T) {
	cells := []analysis.CellSummary{procs("1", p99At(150)), procs("2", p99At(560))}
	for metric, want := range map[string]string{
		"latency_ms.p999":            "Latencies are over all requests of a cell. The tests use the p99.9 of each trial.",
		analysis.BreakingPointMetric: "",
		"":                           "",
	} {
		s := &analysis.Summary{Cells: cells}
		if metric != "" {
			s.Comparisons = []analysis.Comparison{{Metric: metric, Cell: 1}}
		}
		if got := New(s).CellsNote; got != want {
			t.Errorf("tests of %q: %q, want %q", metric, got, want)
		}
	}
}
