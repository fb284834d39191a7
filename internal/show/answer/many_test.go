package answer_test

import (
	"fmt"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/test/sample"
)

func TestAnswersOfManyCells(t *testing.T) {
	got := map[string]string{}
	limit := summary.ByCPULimit
	objective := aims("p99 <= 250ms", ptr(true))
	missed := aims("p99 <= 250ms", ptr(false))
	unknown := aims("p99 <= 250ms", nil)
	gap := func(what string) change {
		return func(c *summary.Cell) { c.Objective.Missed = what }
	}
	five := func(change ...change) (cells []summary.Cell) {
		for i := range 5 {
			cells = append(cells, procs(fmt.Sprint(i+1), append([]sample.Change{p99At(10 * float64(i+1)), within(10*float64(i+1)-1, 10*float64(i+1)+1)}, change...)...))
		}
		return cells
	}
	sorts := func(unit string, figures ...float64) change {
		return func(c *summary.Cell) {
			c.Load = summary.Load{Kind: "benchmark"}
			c.Benchmarks = append(c.Benchmarks, summary.Benchmark{Name: fmt.Sprintf("Sort%d", len(c.Benchmarks)), Unit: unit, Procs: ptr(2), Values: figures, Median: figures[len(figures)/2]})
		}
	}
	for name, cells := range map[string][]summary.Cell{
		"an objective that is not known": {cellOf("go", p99At(12), within(11, 13), unknown, gap("only the generator's delay misses it"))},
		"missed":                         {cellOf("go", p99At(312), within(311, 313), missed)},
		"not decided":                    {cellOf("go", p99At(97), within(78, 114), below100(true))},
		"not decided for one":            {cellOf("go", p99At(50), within(49, 51), below100(true)), cellOf("node", p99At(97), within(78, 114), below100(true)), cellOf("bun", p99At(150), within(149, 151), below100(false))},
		"not decided for any":            {cellOf("go", p99At(97), within(78, 114), below100(true)), cellOf("node", p99At(105), within(79, 113), below100(false))},
		"behind by failed requests": {cellOf("go", p99At(12.5), trials(13.7, 12.5, 12.5, 12.5, 12.5, 12.5), available(98.8), func(c *summary.Cell) {
			c.Availability, c.PerTrial[0].Availability = ptr(99.0), ptr(100.0)
		}), cellOf("bun", p99At(13.6), trials(13.6, 13.6, 13.6, 13.6, 13.6, 13.6))},
		"many pairs differ":               {procs("1", p99At(100), within(50, 950)), procs("2", p99At(101), within(99, 103)), procs("3", p99At(300), within(290, 310)), procs("4", p99At(600), within(590, 610)), procs("5", p99At(900), within(890, 910))},
		"known for some only":             {procs("1", p99At(12), within(11, 13), objective), procs("2", p99At(22), within(21, 23), missed), procs("3", p99At(32), within(31, 33), unknown)},
		"met by some":                     {procs("1", p99At(12), within(11, 13), objective), procs("2", p99At(22), within(21, 23), missed), procs("3", p99At(32), within(31, 33), objective)},
		"the agent limited all":           {procs("1", p99At(12), within(11, 13), agentLimited), procs("2", p99At(22), within(21, 23), agentLimited)},
		"the agent limited two of three":  {procs("1", p99At(12), within(11, 13), agentLimited), procs("2", p99At(22), within(21, 23), agentLimited), procs("3", p99At(32), within(31, 33))},
		"the agent limited many":          append(five(agentLimited), procs("6", p99At(60), within(59, 61))),
		"none is throttled":               {procs("1", p99At(12), within(11, 13), throttled(0, 100)), procs("2", p99At(22), within(21, 23), throttled(0, 101)), procs("3", p99At(32), within(31, 33), throttled(0, 102))},
		"several lead before many":        append(five(), procs("6", p99At(10.5), within(9, 12)), procs("7", p99At(62), within(61, 63))),
		"some pairs differ":               {procs("1", p99At(100), within(50, 650)), procs("2", p99At(101), within(99, 103)), procs("3", p99At(300), within(290, 310)), procs("4", p99At(600), within(590, 610))},
		"one of three pairs differs":      {procs("1", p99At(100), within(50, 650)), procs("2", p99At(101), within(99, 103)), procs("3", p99At(300), within(290, 310))},
		"three groups behind one another": {procs("1", p99At(100), within(50, 650)), procs("2", p99At(101), within(99, 103)), procs("3", p99At(300), within(290, 310)), procs("4", p99At(301), within(291, 311))},
		"many levels that nobody holds":   append([]summary.Cell{procs("0", held(1000, 2, 100))}, fails(5)...),
		"one answers, of one":             {cellOf("go", held(1000, 2, 40))},
		"a level without latency":         {cellOf("go", held(1000, 2, 100), func(c *summary.Cell) { c.Steps[0].LatencyMS = nil })},
		"many at one level":               holding(6),
		"untested breaking points": {procs("1", breaksBetween(99, 100, 101, limit), testedAt(0, 110, true)), procs("2", breaksBetween(89, 90, 91, limit), testedAt(0, 95, true)),
			procs("3", breaksBetween(79, 80, 81, limit), testedAt(0, 85, true)), procs("4", breaksBetween(69, 70, 71, limit), testedAt(0, 75, true)), procs("5", breaksBetween(59, 60, 61, limit), testedAt(0, 65, true))},
		"an estimate beside a bound": {procs("1", breaksBetween(338, 352, 366, limit), searches(1), testedAt(200, 400, true)), procs("2", breaksBetween(259, 271, 284, limit), searches(1), testedAt(200, 400, true)),
			procs("3", holds(400, summary.ByHost, ""), testedAt(300, 0, true), searches(1)), procs("4", holds(390, summary.ByHost, ""), testedAt(290, 0, true), searches(1))},
		"two bounds": {procs("1", holds(400, summary.ByHost, ""), searches(1)), procs("2", holds(300, summary.ByHost, ""), searches(1))},
		"many bounds": {procs("1", holds(400, summary.ByHost, ""), searches(1)), procs("2", holds(300, summary.ByHost, ""), searches(1)), procs("3", holds(350, summary.ByHost, ""), searches(1)),
			procs("4", holds(360, summary.ByHost, "")), procs("5", holds(370, summary.ByHost, "")), procs("6", breaksBetween(99, 100, 101, limit), searches(1))},
		"six bounds of six searches": {procs("1", holds(400, summary.ByHost, "")), procs("2", holds(300, summary.ByHost, "")), procs("3", holds(350, summary.ByHost, "")),
			procs("4", holds(360, summary.ByHost, "")), procs("5", holds(370, summary.ByHost, ""))},
		"two bounds of six searches":    {procs("1", holds(400, summary.ByHost, "")), procs("2", holds(300, summary.ByHost, ""))},
		"two below two that are tied":   {procs("1", breaksBetween(338, 352, 366, limit)), procs("2", breaksBetween(335, 349, 362, limit)), procs("6", breaksBetween(260, 270, 280, limit)), procs("7", breaksBetween(160, 170, 180, limit))},
		"many below two that are tied":  below(procs("a", breaksBetween(338, 352, 366, limit)), procs("b", breaksBetween(335, 349, 362, limit))),
		"an order that is not shown":    {procs("1", breaksBetween(338, 352, 366, limit)), procs("6", breaksBetween(259, 271, 284, limit)), procs("3", breaksBetween(260, 272, 285, limit)), procs("9", breaksBetween(98, 99, 101, limit)), procs("8", breaksBetween(97, 100, 102, limit))},
		"searches on one start":         {procs("1", breaksBetween(338, 352, 366, limit), kept), procs("6", breaksBetween(259, 271, 284, limit), kept)},
		"no breaking points of many":    {procs("0", breaksBetween(338, 352, 366, limit)), procs("1", noPoint("a")), procs("2", noPoint("b")), procs("3", noPoint("c")), procs("4", noPoint("d")), procs("5", noPoint("e"))},
		"no benchmark":                  {cellOf("go", func(c *summary.Cell) { c.Load = summary.Load{Kind: "benchmark"} })},
		"one benchmark of two cells":    {procs("1", sorts("sec/op", 0.012, 0.013, 0.014)), procs("2", func(c *summary.Cell) { c.Load = summary.Load{Kind: "benchmark"} })},
		"six benchmarks of one cell":    {cellOf("go", sorts("sec/op", 1.1e-6), sorts("B/op", 2048), sorts("B/s", 3<<20), sorts("allocs/op", 4), sorts("sec/op", 5), sorts("sec/op", 6))},
		"a benchmark of four trials":    {procs("1", sorts("sec/op", 0.012, 0.013, 0.014, 0.015)), procs("2", sorts("sec/op", 0.022, 0.023, 0.024, 0.025), throttled(30, 100))},
		"throughput of four trials":     {procs("1", sorts("B/s", 1e6, 1.1e6, 1.2e6, 1.3e6)), procs("2", sorts("B/s", 2e6, 2.1e6, 2.2e6, 2.3e6))},
		"frozen, and of a known signal": {cellOf("go", p99At(2), flagged(summary.FlagFrozen))},
	} {
		got[name] = text(&summary.Summary{Cells: numbered(cells...)})
	}
	sentences(t, "many.txt", got)
}

// below are two cells, and six that break at lower loads.
func below(first ...summary.Cell) []summary.Cell {
	for i := range 6 {
		at := float64(100 - 10*i)
		first = append(first, procs(fmt.Sprint(i), breaksBetween(at-1, at, at+1, summary.ByCPULimit)))
	}
	return first
}

// fails are ramps of which no level was answered.
func fails(n int) (all []summary.Cell) {
	for i := range n {
		all = append(all, procs(fmt.Sprint(i+1), held(1000, 3, 40)))
	}
	return all
}

// holding are ramps whose first level was answered, each later than the one before.
func holding(n int) (all []summary.Cell) {
	for i := range n {
		all = append(all, procs(fmt.Sprint(i+1), held(1000, float64(i+2), 100)))
	}
	return all
}
