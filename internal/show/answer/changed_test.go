package answer_test

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/test/sample"
)

// TestAnswersOfAChange: what is said about a server that is held against the one before a change.
func TestAnswersOfAChange(t *testing.T) {
	got := map[string]string{}
	searched := func(service string, low, at, high float64) summary.Cell {
		return cellOf(service, breaksBetween(low, at, high, summary.ByThrottling), setTrials(6), limitOf(500))
	}
	level := func(service string, p99, cpu, memory float64) summary.Cell {
		return cellOf(service, open(100), p99At(p99), within(0.95*p99, 1.05*p99), setTrials(6), limitOf(500), func(c *summary.Cell) {
			sample.EachTrial(c, 0.98*cpu, cpu, 1.02*cpu, func(t *summary.TrialFigures, v float64) { t.CPUPerReqMS = &v })
			sample.EachTrial(c, 0.98*memory, memory, 1.02*memory, func(t *summary.TrialFigures, v float64) { t.MemoryPeak = &v })
		})
	}
	record := func(parallelism [2]int, found, common []summary.Cell) *summary.Summary {
		s := &summary.Summary{Cells: numbered(found...), Common: &summary.Summary{Cells: numbered(common...)}}
		s.Experiment.Server = &experiment.Server{Name: "api (Go 1.26.8)", Settings: []experiment.Setup{
			{Service: "new", Label: "new", Parallelism: parallelism[0]}, {Service: "old", Label: "old", Before: true, Parallelism: parallelism[1]}}}
		if len(found) > 2 {
			s.Experiment.Server.Settings = append(s.Experiment.Server.Settings, experiment.Setup{Service: "set", Label: "new, GOMAXPROCS=8"})
		}
		return s
	}
	same, alike := [2]int{2, 2}, func(service string) summary.Cell { return searched(service, 338, 352, 366) }
	lower := searched("new", 259, 271, 284)
	old := level("old", 20, 1, 64e6)
	short := func(service string) summary.Cell {
		c := searched(service, 338, 352, 366)
		b := c.Breaking
		b.AtLeast, b.High, b.Ended, b.TrafficS = true, nil, string(search.Time), 7
		for i := range c.PerTrial {
			c.PerTrial[i].Breaking = nil
		}
		return c
	}
	interrupted := record(same, []summary.Cell{short("new"), short("old")}, []summary.Cell{level("new", 20, 1, 64e6), old})
	interrupted.Experiment.Interrupted, interrupted.Experiment.TrialsDone, interrupted.Experiment.TrialsPlanned = true, 16, 26
	for name, s := range map[string]*summary.Summary{
		"interrupted":              interrupted,
		"nothing changed":          record(same, []summary.Cell{alike("new"), alike("old")}, []summary.Cell{level("new", 20, 1, 64e6), old}),
		"a request costs more":     record(same, []summary.Cell{lower, alike("old")}, []summary.Cell{level("new", 20, 1.2, 64e6), old}),
		"everything became better": record(same, []summary.Cell{searched("new", 437, 451, 466), alike("old")}, []summary.Cell{level("new", 10, 0.8, 32e6), old}),
		"better and worse":         record(same, []summary.Cell{alike("new"), alike("old")}, []summary.Cell{level("new", 10, 1, 128e6), old}),
		"another parallelism":      record([2]int{2, 8}, []summary.Cell{lower, alike("old")}, []summary.Cell{level("new", 40, 1, 64e6), old}),
		"a setting takes it back": record([2]int{2, 8}, []summary.Cell{lower, alike("old"), searched("set", 338, 352, 366)},
			[]summary.Cell{level("new", 40, 1, 64e6), old, level("set", 20, 1, 64e6)}),
		"a setting takes the only one back": record([2]int{2, 8}, []summary.Cell{lower, alike("old"), searched("set", 338, 352, 366)}, nil),
		"a setting takes only a part back": record([2]int{2, 8}, []summary.Cell{lower, alike("old"), lowerOf("set", lower)},
			[]summary.Cell{level("new", 40, 1, 64e6), old, level("set", 20, 1, 64e6)}),
		"a setting takes nothing back": record([2]int{2, 8}, []summary.Cell{lower, alike("old"), lowerOf("set", lower)},
			[]summary.Cell{level("new", 40, 1, 64e6), old, level("set", 40, 1, 64e6)}),
		"another parallelism changes nothing":               record([2]int{2, 8}, []summary.Cell{alike("new"), alike("old")}, []summary.Cell{level("new", 20, 1, 64e6), old}),
		"an interval beside 0":                              record(same, []summary.Cell{alike("new"), alike("old")}, []summary.Cell{fiveOf(level("new", 20, 1.021, 64e6)), fiveOf(old)}),
		"searches that were too short":                      record(same, []summary.Cell{short("new"), short("old")}, []summary.Cell{level("new", 20, 1, 64e6), old}),
		"searches that were too short for a costlier build": record(same, []summary.Cell{short("new"), short("old")}, []summary.Cell{level("new", 20, 1.2, 64e6), old}),
		"the new one holds no load":                         record(same, []summary.Cell{cellOf("new", noPoint("it died")), alike("old")}, nil),
		"the old one holds no load":                         record(same, []summary.Cell{alike("new"), cellOf("old", noPoint("it died"))}, nil),
		"too few searches": record(same, []summary.Cell{cellOf("new", breaksBetween(259, 271, 284, ""), searches(2), setTrials(2)),
			cellOf("old", breaksBetween(338, 352, 366, ""), searches(2), setTrials(2))}, nil),
	} {
		got[name] = text(s)
	}
	sentences(t, "changed.txt", got)
}

func limitOf(millis int64) change {
	return func(c *summary.Cell) { c.Limits.CPUMillis = &millis }
}

func lowerOf(service string, c summary.Cell) summary.Cell {
	c.Service = service
	return c
}

func fiveOf(c summary.Cell) summary.Cell {
	c.Trials, c.PerTrial = 5, c.PerTrial[:5]
	return c
}
