package answer_test

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/test/sample"
)

// server is a record of searches of one server: its services a, b and so on are its
// settings. common are their cells at one load.
func server(labels []string, found, common []summary.Cell) *summary.Summary {
	s := &summary.Summary{Cells: numbered(found...)}
	s.Experiment.Server = &experiment.Server{Name: "api"}
	for i, label := range labels {
		s.Experiment.Server.Settings = append(s.Experiment.Server.Settings, experiment.Setup{Service: string(rune('a' + i)), Label: label})
	}
	if common != nil {
		s.Common = &summary.Summary{Cells: numbered(common...)}
	}
	return s
}

func TestAnswersOfATriedServer(t *testing.T) {
	got := map[string]string{}
	free, asIs := "without the CPU limit", "as it is"
	three := []string{asIs, "GOMAXPROCS=1", free}
	limited := func(millis int64) change {
		return func(c *summary.Cell) {
			if millis > 0 {
				c.Limits.CPUMillis = &millis
			}
		}
	}
	searched := func(service string, millis int64, low, at, high float64, change ...change) summary.Cell {
		return cellOf(service, append([]sample.Change{breaksBetween(low, at, high, summary.ByThrottling), limited(millis), searches(1), setTrials(1)}, change...)...)
	}
	repeated := func(service string, millis int64, low, at, high float64) summary.Cell {
		return cellOf(service, breaksBetween(low, at, high, summary.ByThrottling), limited(millis), setTrials(6))
	}
	level := func(service string, p99, low, high float64, change ...change) summary.Cell {
		return cellOf(service, append([]sample.Change{open(100), p99At(p99), within(low, high), setTrials(6)}, change...)...)
	}
	missing := func(c *summary.Cell) { c.Objective = sample.Objective("p99", 50, 0); c.Objective.Met = ptr(false) }
	generators := causesOf(summary.Causes{Generator: 0.7, Rest: 0.3})
	host := func(c *summary.Cell) {
		c.Breaking.LimitedBy, c.Breaking.Evidence = summary.ByHost, "0.03 of 4 CPUs were idle"
	}
	plain := []summary.Cell{searched("a", 500, 338, 352, 366), searched("b", 500, 259, 271, 284), searched("c", 0, 610, 633, 651, host)}
	found := []summary.Cell{searched("a", 500, 338, 352, 366, tailOf(0.82, 0.18), testedAt(351, 380, false), recoversAt(160, 196, ""), func(c *summary.Cell) { c.Breaking.Evidence = "it was throttled in 71% of the periods" }),
		searched("b", 500, 259, 271, 284, recoversAt(0, 71, "")), searched("c", 0, 610, 633, 651, host)}
	for name, s := range map[string]*summary.Summary{
		"a setting lowers p99":          server(three, found, []summary.Cell{level("a", 81, 75, 85), level("b", 41, 38, 43), level("c", 21, 19, 22)}),
		"none lowers it":                server(three, plain, []summary.Cell{level("a", 81, 75, 85), level("b", 91, 78, 99), level("c", 80.5, 74, 86)}),
		"one is lower by chance":        server(three, plain, []summary.Cell{level("a", 81, 75, 85), level("b", 79, 74, 84), level("c", 21, 19, 22)}),
		"too few at one load":           server(three, plain, []summary.Cell{cellOf("a", open(100), p99At(81), trials(81)), cellOf("b", open(100), p99At(41), trials(41)), cellOf("c", open(100), p99At(21), trials(21))}),
		"one is not tested":             server([]string{asIs, "GOMAXPROCS=1", "GOMAXPROCS=2"}, []summary.Cell{plain[0], plain[1], searched("c", 500, 610, 633, 651)}, []summary.Cell{level("a", 81, 75, 85), level("b", 41, 38, 43), cellOf("c", open(100), p99At(21), trials(21, 22))}),
		"one holds more":                server(three[:2], []summary.Cell{plain[0], searched("b", 500, 437, 451, 466)}, []summary.Cell{level("a", 19.7, 18, 21), level("b", 19.5, 18, 21)}),
		"one holds more, and is slower": server(three[:2], []summary.Cell{plain[0], searched("b", 500, 437, 451, 466)}, []summary.Cell{level("a", 19.7, 18, 21), level("b", 55.9, 50, 60)}),
		"one was not measured":          server(three, plain, []summary.Cell{level("a", 81, 75, 85), level("c", 21, 19, 22)}),
		"the generator's delay":         server(three, plain, []summary.Cell{level("a", 81, 75, 85), level("b", 41, 38, 43, generators), level("c", 21, 19, 22, generators)}),
		"disturbed at one load":         server(three, plain, []summary.Cell{level("a", 81, 75, 85, beside([]float64{9, 8, 7, 6}, []float64{1, 2}, 4)), level("b", 41, 38, 43), level("c", 21, 19, 22)}),
		"none at one load":              server(three, plain, nil),
		"not as it is":                  server(three, plain, []summary.Cell{cellOf("a", open(100)), level("b", 41, 38, 43)}),
		"new starts miss":               server(three, plain, []summary.Cell{level("a", 81, 75, 85, missing), level("b", 91, 78, 99), level("c", 80.5, 74, 86, missing)}),
		"in users":                      server(three, plain, []summary.Cell{cellOf("a", p99At(81), within(75, 85)), cellOf("b", p99At(41), within(38, 43)), cellOf("c", p99At(21), within(19, 22))}),
		"ranked":                        server([]string{asIs, "GOMAXPROCS=1", "GOMAXPROCS=2", "GOMAXPROCS=4"}, []summary.Cell{repeated("a", 500, 338, 352, 366), repeated("b", 500, 259, 271, 284), repeated("c", 500, 437, 451, 466), repeated("d", 500, 339, 353, 367)}, nil),
		"one is not ranked":             server([]string{asIs, "GOMAXPROCS=1", "GOMAXPROCS=2"}, []summary.Cell{repeated("a", 500, 338, 352, 366), cellOf("b", breaksBetween(259, 271, 284, ""), limited(500), kept, setTrials(6)), repeated("c", 500, 437, 451, 466)}, nil),
		"no search":                     server(three[:2], []summary.Cell{cellOf("a", limited(500)), plain[1]}, nil),
		"no limit":                      server([]string{asIs, "GOMAXPROCS=1"}, []summary.Cell{searched("a", 0, 338, 352, 366), searched("b", 0, 259, 271, 284)}, nil),
		"a bound":                       server(three, []summary.Cell{cellOf("a", holds(400, "", "every level met the objective"), limited(500), testedAt(390, 0, true)), searched("b", 500, 259, 271, 284), cellOf("c", holds(900, summary.ByHost, ""))}, nil),
		"only without the limit":        server(three, []summary.Cell{cellOf("a", noPoint("it died"), limited(500)), cellOf("b", noPoint("it hung"), limited(500)), searched("c", 0, 610, 633, 651)}, nil),
		"a limit and its memory": server([]string{asIs}, []summary.Cell{searched("a", 1500, 338, 352, 366, func(c *summary.Cell) {
			c.Limits.MemoryBytes = ptr(int64(256 << 20))
			c.Objective = sample.Objective("p99", 50, 0)
		})}, nil),
		"two replicas":            server([]string{asIs, "two replicas"}, []summary.Cell{searched("a", 500, 338, 352, 366), searched("b", 500, 659, 671, 684, replicas)}, []summary.Cell{level("a", 81, 75, 85), level("b", 41, 38, 43)}),
		"two replicas, not found": server([]string{asIs, "two replicas"}, []summary.Cell{searched("a", 500, 338, 352, 366), cellOf("b", noPoint("it died"), limited(500), replicas)}, nil),
		"two replicas of a generator": server([]string{asIs, "two replicas"}, []summary.Cell{searched("a", 500, 338, 352, 366), searched("b", 500, 659, 671, 684, replicas)},
			[]summary.Cell{level("a", 81, 75, 85), level("b", 41, 38, 43, generators)}),
		"disturbed": server(three[:2], []summary.Cell{searched("a", 500, 338, 352, 366, disturbedBy(summary.Neighbours)), searched("b", 500, 259, 271, 284)},
			[]summary.Cell{level("a", 81, 75, 85, beside([]float64{9}, []float64{2, 3}, 1)), level("b", 41, 38, 43)}),
		"limits": server([]string{asIs, "GOMAXPROCS=1", asIs, "GOMAXPROCS=1", free}, []summary.Cell{searched("a", 500, 338, 352, 366), searched("b", 500, 259, 271, 284), searched("c", 1000, 437, 451, 466), searched("d", 1000, 539, 553, 567), searched("e", 0, 639, 653, 667, host)},
			[]summary.Cell{level("a", 81, 75, 85, limited(500), missing), level("b", 91, 86, 99, limited(500)), level("c", 71, 67, 74, limited(1000)), level("d", 76, 72, 79, limited(1000)), level("e", 11, 9, 12)}),
		"limits, and a bound without one": server([]string{asIs, asIs, free}, []summary.Cell{searched("a", 500, 338, 352, 366), searched("b", 1000, 437, 451, 466, testedAt(300, 480, true)), cellOf("c", holds(900, summary.ByHost, ""))}, nil),
	} {
		got[name] = text(s)
	}
	s := server([]string{asIs, "GOMAXPROCS=1"}, []summary.Cell{searched("a", 500, 338, 352, 366)}, nil)
	s.Experiment.Server.Settings[0].UnknownLimits, s.Experiment.Server.Settings[0].Advice, s.Experiment.Server.Settings[1].NoEffect = true, "Set it.", "it still ran with 3"
	got["limits that are not known"] = text(s)
	sentences(t, "tried.txt", got)
}
