package narrative

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
)

// limitedTo is a cell whose breaking point was searched under a CPU limit.
func limitedTo(service string, millis int64, load float64, change func(*summary.BreakingPoint)) summary.Cell {
	c := summary.Cell{Service: service, Label: service, Load: summary.Load{Kind: "open"}, Breaking: &summary.BreakingPoint{}}
	if millis > 0 {
		c.Limits.CPUMillis = &millis
	}
	if load > 0 {
		low, high := load*0.95, load*1.05
		c.Breaking.RateRPS, c.Breaking.Low, c.Breaking.High = &load, &low, &high
	}
	if change != nil {
		change(c.Breaking)
	}
	return c
}

func TestLimitsAreAnsweredInTheirOrder(t *testing.T) {
	by := func(what string) func(*summary.BreakingPoint) {
		return func(b *summary.BreakingPoint) { b.LimitedBy = what }
	}
	s := &summary.Summary{Cells: []summary.Cell{
		limitedTo("a", 250, 0, func(b *summary.BreakingPoint) { b.Reason = "it misses the objective even at the lowest load tried" }),
		limitedTo("b", 500, 200, by(summary.ByThrottling)),
		limitedTo("c", 1000, 400, by(summary.ByThrottling)),
		limitedTo("d", 2000, 900, func(b *summary.BreakingPoint) { b.AtLeast, b.High = true, nil }),
		limitedTo("e", 0, 1200, by(summary.ByHost)),
	}}
	s.Cells[1].Objective = &summary.Objective{Text: "p99 <= 100ms"}
	s.Experiment.Server = &experiment.Server{Name: "api", Settings: []experiment.Setup{{Service: "a", Label: "as it is"}, {Service: "b", Label: "as it is"},
		{Service: "c", Label: "as it is"}, {Service: "d", Label: "as it is"}, {Service: "e", Label: "without the CPU limit"}, {Label: "GOMAXPROCS=1", NoEffect: "it still ran with 3"}}}
	want := []string{
		"api breaks at 200 requests/s (190–210) under 500m CPU, at 400 requests/s (380–420) under 1 CPU and holds at least 900 requests/s under 2 CPUs " +
			"(one search each; results differ from start to start); the objective is p99 <= 100ms.",
		"No breaking point was found under 250m CPU: it misses the objective even at the lowest load tried.",
		"It is limited by throttling under 500m CPU and 1 CPU.",
		"Without the limit it breaks at 1,200 requests/s (1,140–1,260), limited by the host's CPUs.",
		"Latency under the limits was not compared at one load.",
		"GOMAXPROCS=1 has no effect and was not searched: it still ran with 3.",
	}
	if d := cmp.Diff(want, Tried(s)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"as it is (250m)", "as it is (500m)", "as it is (1)", "as it is (2)", "without the CPU limit"}, CellNames(s)); d != "" {
		t.Error(d)
	}
}

// Searches that ended for one reason are named together, and the reason stands once.
func TestAReasonForNoBreakingPointStandsOnce(t *testing.T) {
	why := func(reason string) func(*summary.BreakingPoint) {
		return func(b *summary.BreakingPoint) { b.Reason = reason }
	}
	const busy, slow = "neighbours took CPU in most windows", "it misses the objective even at the lowest load tried"
	server := func(labels ...string) *experiment.Server {
		s := &experiment.Server{Name: "api"}
		for i, label := range labels {
			s.Settings = append(s.Settings, experiment.Setup{Service: string(rune('a' + i)), Label: label})
		}
		return s
	}
	for _, c := range []struct {
		name   string
		cells  []summary.Cell
		server *experiment.Server
		want   []string // the first sentences
	}{
		{"one limit", []summary.Cell{limitedTo("a", 500, 0, why(busy)), limitedTo("b", 500, 0, why(slow)), limitedTo("c", 500, 0, why(busy)), limitedTo("d", 0, 0, why(busy))},
			server("as it is", "GOMAXPROCS=1", "GOMAXPROCS=2", "without the CPU limit"),
			[]string{"No breaking point of api was found under a limit of 500m CPU, nor with GOMAXPROCS=2 and without the CPU limit: " + busy + ".",
				"No breaking point was found with GOMAXPROCS=1: " + slow + "."}},
		{"it breaks as it is", []summary.Cell{limitedTo("a", 500, 200, nil), limitedTo("b", 500, 0, why(busy)), limitedTo("c", 500, 0, why(busy)), limitedTo("d", 0, 400, nil)},
			server("as it is", "GOMAXPROCS=1", "GOMAXPROCS=2", "without the CPU limit"),
			[]string{"Under a limit of 500m CPU api breaks at 200 requests/s (190–210).",
				"Without the limit it breaks at 400 requests/s (380–420), against 200 requests/s (190–210) under it (one search each; results differ from start to start).",
				"No breaking point was found with GOMAXPROCS=1 and with GOMAXPROCS=2: " + busy + "."}},
		{"limits", []summary.Cell{limitedTo("a", 250, 0, why(busy)), limitedTo("b", 500, 0, why(busy)), limitedTo("c", 500, 0, why(busy)), limitedTo("d", 0, 0, why(busy))},
			server("as it is", "as it is", "GOMAXPROCS=1", "without the CPU limit"),
			[]string{"No breaking point of api was found under 250m CPU and 500m CPU, with GOMAXPROCS=1 under 500m CPU and without the CPU limit: " + busy + "."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &summary.Summary{Cells: c.cells}
			s.Experiment.Server = c.server
			got := Tried(s)
			if d := cmp.Diff(c.want, got[:min(len(got), len(c.want))]); d != "" {
				t.Error(d)
			}
		})
	}
}
