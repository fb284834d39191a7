package narrative

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis"
)

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

// eachAt sets the loads at which the cell's searches broke.
func eachAt(loads ...float64) change {
	return func(c *analysis.CellSummary) {
		for i := range loads {
			c.PerTrial = append(c.PerTrial, analysis.TrialFigures{Breaking: &loads[i]})
		}
	}
}

// staged says that the breaking point was read from ramps.
func staged(c *analysis.CellSummary) { c.Load.Stages = true }

// holds gives a cell a lower bound.
func holds(rps float64, by, reason string) change {
	return func(c *analysis.CellSummary) {
		low := rps * 0.98
		c.Load = analysis.LoadSummary{Kind: "open"}
		c.Breaking = &analysis.BreakingPoint{RateRPS: &rps, Low: &low, AtLeast: true, LimitedBy: by, Reason: reason, Searches: 6}
	}
}

// noPoint gives a cell a search without an answer.
func noPoint(reason string) change {
	return func(c *analysis.CellSummary) {
		silent(c)
		c.Breaking = &analysis.BreakingPoint{Reason: reason}
	}
}

func kneeAt(rps float64, ofLimit *float64) change {
	return func(c *analysis.CellSummary) {
		c.Knee = &analysis.Knee{Load: rps, Low: rps * 0.9, High: rps * 1.1, OfLimit: ofLimit, Quantile: "p99", FloorMS: 9}
	}
}

func tailOf(throttling, rest float64) change {
	return func(c *analysis.CellSummary) {
		c.Causes = &analysis.Causes{Quantile: "p99", FromMS: 200, Requests: 300, MeanMS: 240, Throttling: throttling, Rest: rest}
	}
}

// disturbedBy lets others have disturbed a search.
func disturbedBy(who ...string) change {
	return func(c *analysis.CellSummary) {
		c.Flags, c.Breaking.DisturbedBy = append(c.Flags, "search_disturbed"), who
	}
}

func warned(word analysis.Flag) change {
	return func(c *analysis.CellSummary) { c.Flags = append(c.Flags, word) }
}

func numbered(cells ...analysis.CellSummary) []analysis.CellSummary {
	for i := range cells {
		cells[i].Cell = i
	}
	return cells
}

func TestHeadlineOfBreakingPoints(t *testing.T) {
	limit := analysis.ByCPULimit
	for name, c := range map[string]struct {
		cells []analysis.CellSummary
		tests []analysis.Comparison
		want  string
	}{
		"one cell": {
			cells: numbered(procs("1", breaksBetween(338, 352, 366, limit))),
			want:  "go procs=1 breaks at 352 requests/s (338–366), limited by its CPU limit.",
		},
		"one cell with its knee and its tail": {
			cells: numbered(procs("6", breaksBetween(259, 271, 284, analysis.ByThrottling), kneeAt(144, ptr(0.41)), tailOf(0.92, 0.08))),
			want: "go procs=6 breaks at 271 requests/s (259–284), limited by throttling. Its p99 starts to rise at 144 requests/s, at 41% of the limit. " +
				"92% of its slow tail is throttling.",
		},
		"a knee without a limit, and a tail that is the service's own": {
			cells: numbered(cellOf("go", breaksBetween(259, 271, 284, analysis.ByService), kneeAt(144, nil), tailOf(0.02, 0.98))),
			want: "go breaks at 271 requests/s (259–284), limited by the service itself. Its p99 starts to rise at 144 requests/s. " +
				"Its slow tail is queueing and work, not throttling.",
		},
		"users": {
			cells: numbered(cellOf("go", func(c *analysis.CellSummary) {
				c.Breaking = &analysis.BreakingPoint{Users: ptr(20.0), Low: ptr(18.0), High: ptr(23.0), LimitedBy: analysis.ByMemory}
			})),
			want: "go breaks at 20 users (18–23), limited by its memory limit.",
		},
		"a lower bound by the generator": {
			cells: numbered(cellOf("nginx", holds(40000, analysis.ByGenerator, "the agent sent late"))),
			want:  "nginx holds at least 40,000 requests/s: the generator was the limit.",
		},
		"a lower bound by what may be asked for": {
			cells: numbered(cellOf("nginx", holds(40000, "", "the highest load that may be asked for."))),
			want:  "nginx holds at least 40,000 requests/s: the highest load that may be asked for.",
		},
		"a limit that this version does not know": {
			cells: numbered(cellOf("go", breaksBetween(90, 100, 110, "the moon\x1b[31m"))),
			want:  "go breaks at 100 requests/s (90.0–110), limited by the moon.",
		},
		"none found": {
			cells: numbered(procs("1", noPoint("the objective is missed at 1 request/s"))),
			want:  "No breaking point was found for go procs=1: the objective is missed at 1 request/s.",
		},
		"none found, and no word why": {
			cells: numbered(procs("1", noPoint(""))),
			want:  "No breaking point was found for go procs=1.",
		},
		"none found anywhere for one reason": {
			cells: numbered(procs("1", noPoint("it died at start.")), procs("2", noPoint("it died at start"))),
			want:  "No breaking point was found for any of the 2 cells: it died at start.",
		},
		"none found anywhere for several reasons": {
			cells: numbered(procs("1", noPoint("it died at start")), procs("2", noPoint("it always answers 500"))),
			want: "No breaking point was found for any of the 2 cells. procs=1 has no breaking point: it died at start. " +
				"procs=2 has no breaking point: it always answers 500.",
		},
		"the order of several": {
			cells: numbered(
				procs("6", breaksBetween(259, 271, 284, analysis.ByThrottling)),
				procs("1", breaksBetween(338, 352, 366, limit)),
				procs("9", breaksBetween(99, 101, 103, analysis.ByThrottling)),
			),
			want: "go procs=1 breaks at 352 requests/s (338–366), limited by its CPU limit; 1.3 times procs=6 (271) and 3.5 times procs=9 (101).",
		},
		"those behind the first are not ranked where they overlap": {
			cells: numbered(
				procs("1", breaksBetween(338, 352, 366, limit)),
				procs("6", breaksBetween(259, 271, 284, limit)),
				procs("3", breaksBetween(270, 287, 300, limit)),
			),
			want: "go procs=1 breaks at 352 requests/s (338–366), limited by its CPU limit; 1.2 times procs=3 (287) and 1.3 times procs=6 (271). " +
				"The order of procs=3 and procs=6 is not certain: their intervals overlap.",
		},
		"one search each is no order": {
			cells: numbered(procs("1", breaksBetween(338, 352, 366, limit), searches(1)), procs("6", breaksBetween(259, 271, 284, limit), searches(1))),
			want: "procs=1 and procs=6 cannot be ranked: they break at 352 (338–366) and 271 (259–284) requests/s, " +
				"and one search of a cell does not show how its starts differ: ranking takes at least 4 of each (measure.repeats).",
		},
		"nor are three of one": {
			cells: numbered(procs("1", breaksBetween(338, 352, 366, limit)), procs("6", breaksBetween(259, 271, 284, limit), searches(3)), procs("9", breaksBetween(99, 101, 103, limit))),
			want: "procs=1 and procs=6 cannot be ranked: they break at 352 (338–366) and 271 (259–284) requests/s, " +
				"and 3 searches of a cell are too few to show how its starts differ: ranking takes at least 4 of each (measure.repeats); procs=9 (101) breaks earlier.",
		},
		"one search each of many": {
			cells: numbered(procs("1", breaksBetween(99, 100, 101, limit), searches(1)), procs("2", breaksBetween(89, 90, 91, limit), searches(1)), procs("3", breaksBetween(79, 80, 81, limit), searches(1)),
				procs("4", breaksBetween(69, 70, 71, limit), searches(1)), procs("5", breaksBetween(59, 60, 61, limit), searches(1))),
			want: "5 cells cannot be ranked: they break at 100 (99.0–101) (procs=1) down to 60.0 (59.0–61.0) (procs=5) requests/s, " +
				"and one search of a cell does not show how its starts differ: ranking takes at least 5 of each (measure.repeats).",
		},
		"one ramp each is no order": {
			cells: numbered(procs("1", breaksBetween(300, 300, 350, limit), searches(1), staged), procs("6", breaksBetween(200, 200, 250, limit), searches(1), staged)),
			want: "procs=1 and procs=6 cannot be ranked: they break at 300 (300–350) and 200 (200–250) requests/s, " +
				"and one ramp of a cell does not show how its starts differ: ranking takes at least 4 of each (measure.repeats).",
		},
		"a lower bound of one search is far above, and not ranked": {
			cells: numbered(cellOf("go", breaksBetween(30000, 31200, 32000, limit), searches(1)), cellOf("nginx", holds(40000, analysis.ByHost, ""), searches(1))),
			want: "nginx and go cannot be ranked: they hold at least 40,000 and 31,200 (30,000–32,000) requests/s, " +
				"and one search of a cell does not show how its starts differ: ranking takes at least 4 of each (measure.repeats).",
		},
		"four searches each are tested, whatever their ends": {
			cells: numbered(procs("1", breaksBetween(270, 352, 366, limit), searches(4), eachAt(351, 352, 353, 354)), procs("6", breaksBetween(259, 271, 284, limit), searches(4), eachAt(270, 271, 272, 273))),
			want:  "go procs=1 breaks at 352 requests/s (270–366), limited by its CPU limit; 1.3 times procs=6 (271).",
		},
		"four searches of which some gave bounds are ranked by their ends": {
			cells: numbered(procs("1", breaksBetween(270, 352, 366, limit), searches(4), eachAt(351, 352)), procs("6", breaksBetween(259, 271, 284, limit), searches(4), eachAt(270, 271, 272, 273))),
			want:  "procs=1 and procs=6 cannot be distinguished: they break at 352 (270–366) and 271 (259–284) requests/s, and their trials overlap.",
		},
		"two that overlap": {
			cells: numbered(procs("1", breaksBetween(338, 352, 366, limit)), procs("2", breaksBetween(335, 349, 362, limit))),
			want:  "procs=1 and procs=2 cannot be distinguished: they break at 352 (338–366) and 349 (335–362) requests/s, and their 95% intervals overlap.",
		},
		"two that overlap before a third": {
			cells: numbered(procs("1", breaksBetween(338, 352, 366, limit)), procs("2", breaksBetween(335, 349, 362, limit)), procs("6", breaksBetween(260, 270, 280, limit))),
			want: "procs=1 and procs=2 cannot be distinguished: they break at 352 (338–366) and 349 (335–362) requests/s, and their 95% intervals overlap; " +
				"procs=6 (270) breaks earlier.",
		},
		"the first overlaps two that are apart": {
			cells: numbered(procs("1", breaksBetween(300, 352, 400, limit)), procs("2", breaksBetween(345, 349, 352, limit)), procs("6", breaksBetween(305, 310, 315, limit))),
			want: "None of procs=1, procs=2 and procs=6 is clearly ahead: they break at 352 (300–400), 349 (345–352) and 310 (305–315) requests/s, " +
				"and their 95% intervals overlap.",
		},
		"a test distinguishes what intervals do not": {
			cells: numbered(procs("1", breaksBetween(338, 352, 366, limit)), procs("2", breaksBetween(325, 335, 342, limit))),
			tests: []analysis.Comparison{{Cell: 1, Baseline: 0, Metric: "breaking_point", Shift: -17, Significant: true}},
			want:  "go procs=1 breaks at 352 requests/s (338–366), limited by its CPU limit; 1.05 times procs=2 (335).",
		},
		"a test is more careful than intervals": {
			cells: numbered(procs("1", breaksBetween(345, 352, 366, limit)), procs("2", breaksBetween(325, 335, 342, limit))),
			tests: []analysis.Comparison{{Cell: 1, Baseline: 0, Metric: "breaking_point"}},
			want: "procs=1 and procs=2 cannot be distinguished: they break at 352 (345–366) and 335 (325–342) requests/s, " +
				"and over their trials the difference may be chance.",
		},
		"the first is a lower bound": {
			cells: numbered(cellOf("go", breaksBetween(30000, 31200, 32000, limit)), cellOf("nginx", holds(40000, analysis.ByHost, ""))),
			want:  "nginx holds at least 40,000 requests/s: the host was the limit; at least 1.3 times go (31,200).",
		},
		"a lower bound behind the first is not ranked": {
			cells: numbered(cellOf("go", breaksBetween(48000, 50000, 52000, limit)), cellOf("nginx", holds(40000, analysis.ByGenerator, ""))),
			want:  "go and nginx cannot be distinguished: they break at 50,000 (48,000–52,000) and at least 40,000 requests/s, and that of nginx is a lower bound.",
		},
		"one without an answer": {
			cells: numbered(procs("1", breaksBetween(338, 352, 366, limit)), procs("2", noPoint("it died at start"))),
			want:  "go procs=1 breaks at 352 requests/s (338–366), limited by its CPU limit. procs=2 has no breaking point: it died at start.",
		},
		"a wide interval is explained, and a neighbour named": {
			cells: numbered(cellOf("go", breaksBetween(200, 271, 384, limit), disturbedBy(analysis.Neighbours), func(c *analysis.CellSummary) { c.Breaking.Reason = "3 windows were disturbed" })),
			want:  "go breaks at 271 requests/s (200–384), limited by its CPU limit. 3 windows were disturbed. Other processes disturbed the run: repeat it on a quiet host.",
		},
		"the hypervisor is no neighbour": {
			cells: numbered(cellOf("go", breaksBetween(200, 271, 384, limit), disturbedBy(analysis.Hypervisor))),
			want:  "go breaks at 271 requests/s (200–384), limited by its CPU limit. The hypervisor disturbed the run: repeat it where it takes less CPU.",
		},
		"each disturbed another cell": {
			cells: numbered(procs("1", breaksBetween(338, 352, 366, limit), disturbedBy(analysis.Hypervisor)), procs("6", breaksBetween(259, 271, 284, limit), disturbedBy(analysis.Neighbours))),
			want: "go procs=1 breaks at 352 requests/s (338–366), limited by its CPU limit; 1.3 times procs=6 (271). " +
				"Other processes disturbed procs=6: repeat it on a quiet host. The hypervisor disturbed procs=1: repeat it where it takes less CPU.",
		},
		"both disturbed one": {
			cells: numbered(cellOf("go", breaksBetween(200, 271, 384, limit), disturbedBy(analysis.Neighbours, analysis.Hypervisor))),
			want:  "go breaks at 271 requests/s (200–384), limited by its CPU limit. Other processes and the hypervisor disturbed the run: repeat it on a quiet host.",
		},
		"an older summary does not say who": {
			cells: numbered(cellOf("go", breaksBetween(200, 271, 384, limit), disturbedBy())),
			want:  "go breaks at 271 requests/s (200–384), limited by its CPU limit. Other processes or the hypervisor disturbed the run: repeat it on a quiet host.",
		},
		"throttling in one cell and not in another": {
			cells: numbered(procs("1", breaksBetween(338, 352, 366, limit), tailOf(0.04, 0.96)), procs("6", breaksBetween(259, 271, 284, limit), tailOf(0.92, 0.08))),
			want: "go procs=1 breaks at 352 requests/s (338–366), limited by its CPU limit; 1.3 times procs=6 (271). " +
				"92% of the slow tail of procs=6 is throttling, of that of procs=1 4%.",
		},
		"users and requests/s": {
			cells: numbered(cellOf("go", breaksBetween(338, 352, 366, limit)), cellOf("bun", func(c *analysis.CellSummary) {
				c.Breaking = &analysis.BreakingPoint{Users: ptr(120.0)}
			})),
			want: "go breaks at 352 requests/s (338–366), limited by its CPU limit. bun breaks at 120 users. Users and requests/s do not compare.",
		},
		"many cells name the ends only": {
			cells: numbered(
				procs("1", breaksBetween(99, 100, 101, limit)), procs("2", breaksBetween(89, 90, 91, limit)), procs("3", breaksBetween(79, 80, 81, limit)),
				procs("4", breaksBetween(69, 70, 71, limit)), procs("5", breaksBetween(59, 60, 61, limit)), procs("6", breaksBetween(9, 9.5, 10, limit)),
			),
			want: "go procs=1 breaks at 100 requests/s (99.0–101), limited by its CPU limit; 1.1 times procs=2 (90.0), the next of 6 cells, and 11 times procs=6 (9.50), the last.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := HeadlineOf(&analysis.Summary{Cells: c.cells, Comparisons: c.tests}).String(); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}
