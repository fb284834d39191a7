package answer_test

import (
	"slices"
	"testing"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/show/answer"
)

func TestAnswersOfBreakingPoints(t *testing.T) {
	limit := summary.ByCPULimit
	got := map[string]string{}
	for name, c := range map[string]struct {
		cells []summary.Cell
	}{
		"one cell": {
			cells: numbered(procs("1", breaksBetween(338, 352, 366, limit))),
		},
		"one cell with its knee and its tail": {
			cells: numbered(procs("6", breaksBetween(259, 271, 284, summary.ByThrottling), kneeAt(144, ptr(0.41)), tailOf(0.92, 0.08))),
		},
		"a knee without a limit, and a tail that is the service's own": {
			cells: numbered(cellOf("go", breaksBetween(259, 271, 284, summary.ByService), kneeAt(144, nil), tailOf(0.02, 0.98))),
		},
		"users": {
			cells: numbered(cellOf("go", func(c *summary.Cell) {
				c.Breaking = &summary.BreakingPoint{Users: ptr(20.0), Low: ptr(18.0), High: ptr(23.0), LimitedBy: summary.ByMemory}
			})),
		},
		"a lower bound by the generator": {
			cells: numbered(cellOf("nginx", holds(40000, summary.ByGenerator, "the agent sent late"))),
		},
		"a lower bound by what may be asked for": {
			cells: numbered(cellOf("nginx", holds(40000, "", "the highest load that may be asked for."))),
		},
		"a limit that this version does not know": {
			cells: numbered(cellOf("go", breaksBetween(90, 100, 110, "the moon\x1b[31m"))),
		},
		"none found": {
			cells: numbered(procs("1", noPoint("the objective is missed at 1 request/s"))),
		},
		"none found, and no word why": {
			cells: numbered(procs("1", noPoint(""))),
		},
		"none found anywhere for one reason": {
			cells: numbered(procs("1", noPoint("it died at start.")), procs("2", noPoint("it died at start"))),
		},
		"none found anywhere for several reasons": {
			cells: numbered(procs("1", noPoint("it died at start")), procs("2", noPoint("it always answers 500"))),
		},
		"one cell that was tested": {
			cells: numbered(cellOf("go", breaksBetween(1300, 1407, 1600, limit), testedAt(1390, 1456, false))),
		},
		"one cell whose tests were far below": {
			cells: numbered(cellOf("go", breaksBetween(1300, 1407, 1900, limit), testedAt(1149, 1856, true))),
		},
		"one cell whose tests all missed": {
			cells: numbered(cellOf("go", breaksBetween(1300, 1407, 1900, limit), testedAt(0, 1856, true))),
		},
		"it recovers near its breaking point": {
			cells: numbered(cellOf("python", breaksBetween(226, 280, 402, limit), recoversAt(238, 0, ""))),
		},
		"it recovers only far below": {
			cells: numbered(cellOf("python", breaksBetween(226, 280, 402, limit), testedAt(278, 290, false), recoversAt(160, 196, ""))),
		},
		"it does not recover": {
			cells: numbered(cellOf("python", breaksBetween(226, 280, 402, limit), recoversAt(0, 70, ""))),
		},
		"it dies of an overload": {
			cells: numbered(cellOf("python", breaksBetween(226, 280, 402, limit), recoversAt(0, 0, "the service died and did not serve again within 22s"))),
		},
		"two, of which one is untested and recovers only far below": {
			cells: numbered(procs("1", breaksBetween(338, 352, 366, limit), testedAt(0, 400, true), recoversAt(120, 170, "")), procs("6", breaksBetween(259, 271, 284, limit), recoversAt(230, 0, ""))),
		},
		"a lower bound by the time": {
			cells: numbered(cellOf("nginx", holds(640, "", "the search time was used up"), endedBy(search.Time))),
		},
		"a lower bound by the time, untested": {
			cells: numbered(cellOf("nginx", holds(640, "", "the search time was used up"), endedBy(search.Time), testedAt(0, 0, true))),
		},
		"a lower bound by the highest load": {
			cells: numbered(cellOf("nginx", holds(1e6, "", ""), endedBy(search.Most))),
		},
		"the order of several": {
			cells: numbered(
				procs("6", breaksBetween(259, 271, 284, summary.ByThrottling)),
				procs("1", breaksBetween(338, 352, 366, limit)),
				procs("9", breaksBetween(99, 101, 103, summary.ByThrottling)),
			),
		},
		"those behind the first are not ranked where they overlap": {
			cells: numbered(
				procs("1", breaksBetween(338, 352, 366, limit)),
				procs("6", breaksBetween(259, 271, 284, limit)),
				procs("3", breaksBetween(270, 287, 300, limit)),
			),
		},
		"one search each is no order": {
			cells: numbered(procs("1", breaksBetween(338, 352, 366, limit), searches(1)), procs("6", breaksBetween(259, 271, 284, limit), searches(1))),
		},
		"nor are three of one": {
			cells: numbered(procs("1", breaksBetween(338, 352, 366, limit)), procs("6", breaksBetween(259, 271, 284, limit), searches(3)), procs("9", breaksBetween(99, 101, 103, limit))),
		},
		"one search each of many": {
			cells: numbered(procs("1", breaksBetween(99, 100, 101, limit), searches(1)), procs("2", breaksBetween(89, 90, 91, limit), searches(1)), procs("3", breaksBetween(79, 80, 81, limit), searches(1)),
				procs("4", breaksBetween(69, 70, 71, limit), searches(1)), procs("5", breaksBetween(59, 60, 61, limit), searches(1))),
		},
		"one ramp each is no order": {
			cells: numbered(procs("1", breaksBetween(300, 300, 350, limit), searches(1), staged), procs("6", breaksBetween(200, 200, 250, limit), searches(1), staged)),
		},
		"a lower bound of one search is far above, and not ranked": {
			cells: numbered(cellOf("go", breaksBetween(30000, 31200, 32000, limit), searches(1)), cellOf("nginx", holds(40000, summary.ByHost, ""), searches(1))),
		},
		"two break and one holds": {
			cells: numbered(procs("1", breaksBetween(338, 352, 366, limit), searches(1)), procs("6", breaksBetween(259, 271, 284, limit), searches(1)), cellOf("nginx", holds(40000, summary.ByHost, ""), searches(1))),
		},
		"four searches each are tested, whatever their ends": {
			cells: numbered(procs("1", breaksBetween(270, 352, 366, limit), searches(4), eachAt(351, 352, 353, 354)), procs("6", breaksBetween(259, 271, 284, limit), searches(4), eachAt(270, 271, 272, 273))),
		},
		"four searches of which some gave bounds are ranked by them": {
			cells: numbered(procs("1", breaksBetween(270, 352, 366, limit), searches(4), eachAt(351, 352), boundsAt(340, 400)), procs("6", breaksBetween(259, 271, 284, limit), searches(4), eachAt(270, 271, 272, 273))),
		},
		"two that overlap": {
			cells: numbered(procs("1", breaksBetween(338, 352, 366, limit)), procs("2", breaksBetween(335, 349, 362, limit))),
		},
		"two that overlap before a third": {
			cells: numbered(procs("1", breaksBetween(338, 352, 366, limit)), procs("2", breaksBetween(335, 349, 362, limit)), procs("6", breaksBetween(260, 270, 280, limit))),
		},
		"the first overlaps two that are apart": {
			cells: numbered(procs("1", breaksBetween(300, 352, 400, limit)), procs("2", breaksBetween(345, 349, 352, limit)), procs("6", breaksBetween(305, 310, 315, limit))),
		},
		"the first is a lower bound": {
			cells: numbered(cellOf("go", breaksBetween(30000, 31200, 32000, limit)), cellOf("nginx", holds(40000, summary.ByHost, ""))),
		},
		"a lower bound behind the first is not ranked": {
			cells: numbered(cellOf("go", breaksBetween(48000, 50000, 52000, limit)), cellOf("nginx", holds(40000, summary.ByGenerator, ""))),
		},
		"one without an answer": {
			cells: numbered(procs("1", breaksBetween(338, 352, 366, limit)), procs("2", noPoint("it died at start"))),
		},
		"a wide interval is explained, and a neighbour named": {
			cells: numbered(cellOf("go", breaksBetween(200, 271, 384, limit), disturbedBy(summary.Neighbours), func(c *summary.Cell) { c.Breaking.Reason = "3 windows were disturbed" })),
		},
		"the hypervisor is no neighbour": {
			cells: numbered(cellOf("go", breaksBetween(200, 271, 384, limit), disturbedBy(summary.Hypervisor))),
		},
		"each disturbed another cell": {
			cells: numbered(procs("1", breaksBetween(338, 352, 366, limit), disturbedBy(summary.Hypervisor)), procs("6", breaksBetween(259, 271, 284, limit), disturbedBy(summary.Neighbours))),
		},
		"both disturbed one": {
			cells: numbered(cellOf("go", breaksBetween(200, 271, 384, limit), disturbedBy(summary.Neighbours, summary.Hypervisor))),
		},
		"throttling in one cell and not in another": {
			cells: numbered(procs("1", breaksBetween(338, 352, 366, limit), tailOf(0.04, 0.96)), procs("6", breaksBetween(259, 271, 284, limit), tailOf(0.92, 0.08))),
		},
		"users and requests/s": {
			cells: numbered(cellOf("go", breaksBetween(338, 352, 366, limit)), cellOf("bun", func(c *summary.Cell) {
				c.Breaking = &summary.BreakingPoint{Users: ptr(120.0)}
			})),
		},
		"many cells name the ends only": {
			cells: numbered(
				procs("1", breaksBetween(99, 100, 101, limit)), procs("2", breaksBetween(89, 90, 91, limit)), procs("3", breaksBetween(79, 80, 81, limit)),
				procs("4", breaksBetween(69, 70, 71, limit)), procs("5", breaksBetween(59, 60, 61, limit)), procs("6", breaksBetween(9, 9.5, 10, limit)),
			),
		},
	} {
		got[name] = text(&summary.Summary{Cells: c.cells})
	}
	sentences(t, "breakingpoints.txt", got)
}

// A lock beside work that nearly uses the limit looks like busy threads: the limit is raised
// only for threads.
func TestAdviceOfBusyThreads(t *testing.T) {
	for _, c := range []struct {
		kind finding.Kind
		used float64
		want string
	}{
		{finding.ThreadsBusy, 0.93, "add threads and raise the CPU limit if its threads are busy (top -H), else look for a lock."},
		{finding.ThreadsBusy, 0.5, "add threads or replicas if its threads are busy (top -H), else look for a lock."},
		{finding.ThreadsFull, 1, "let more threads share the work and raise the CPU limit with them, or add replicas."},
		{finding.ThreadsFull, 0.5, "let more threads share the work, or add processes or replicas."},
	} {
		cell := cellOf("go", breaksBetween(90, 100, 110, summary.ByParallelism))
		cell.Breaking.Shown = []finding.Finding{{Kind: c.kind, N: 1, Use: finding.Use{Cores: ptr(1.0), OfLimit: &c.used}}}
		if do := answer.Of(&summary.Summary{Cells: numbered(cell)}).Do; do != c.want {
			t.Errorf("%v with %v of the limit: %q, want %q", c.kind, c.used, do, c.want)
		}
	}
}

// Threads that never sleep use CPU that no request asks for: they come before a higher limit.
func TestThreadsThatNeverSleep(t *testing.T) {
	for _, c := range []struct {
		by      string
		shown   []finding.Finding
		why, do string
	}{
		{summary.ByCPULimit, []finding.Finding{{Kind: finding.LimitUsed, Use: finding.Use{OfLimit: ptr(1.0), Throttled: ptr(0.6)}}, {Kind: finding.AlsoAwake, Value: 0.36, Share: 0.45}},
			"its CPU limit: 100% used, throttled in 60% of the periods; threads that never sleep use 45% of it without requests.",
			"let these threads sleep when they wait (top -H shows which), or raise the CPU limit."},
		{summary.ByHost, []finding.Finding{{Kind: finding.HostBusy, Host: finding.Host{Busy: 2, CPUs: 2}}, {Kind: finding.AlsoAwake, Value: 1}},
			"the CPUs of the machine: 2.00 of 2 were busy; threads that never sleep use 1.00 CPUs without requests.",
			"let these threads sleep when they wait (top -H shows which)."},
	} {
		cell := cellOf("node", breaksBetween(90, 100, 110, c.by))
		cell.Breaking.Shown = c.shown
		if got := answer.Of(&summary.Summary{Cells: numbered(cell)}); got.Why != c.why || got.Do != c.do {
			t.Errorf("%s: %q, %q", c.by, got.Why, got.Do)
		}
	}
}

// A rule of a service that refuses requests is not shown by what it uses.
func TestAdviceOfErrors(t *testing.T) {
	for _, c := range []struct {
		shown   finding.Finding
		why, do string
	}{
		{finding.Finding{Share: 0.012, Counts: []finding.Count{{N: 2, Name: "cut off"}, {N: 10, Name: summary.BadStatus}}},
			"its errors: 1.2% of the requests got an error status.", "read its log: a rule of its own (a rate, a queue, a pool) may refuse requests."},
		{finding.Finding{Share: 0.012, N: 1, Counts: []finding.Count{{N: 10, Name: "cut off"}}},
			"its errors: 1.2% of the requests were cut off.", "read the log of the service, in the folder of the record."},
		{finding.Finding{Share: 0.02, Counts: []finding.Count{{N: 10, Name: "cut off"}, {N: 10, Name: summary.BadStatus}}},
			"its errors: 2% of the requests got no good answer.", "read the log of the service, in the folder of the record."},
	} {
		cell := cellOf("go", breaksBetween(90, 100, 110, summary.ByErrors))
		c.shown.Kind = finding.RequestsFailed
		cell.Breaking.Shown = []finding.Finding{c.shown}
		if a := answer.Of(&summary.Summary{Cells: numbered(cell)}); a.Why != c.why || a.Do != c.do {
			t.Errorf("%+v: %q, %q; want %q, %q", c.shown, a.Why, a.Do, c.why, c.do)
		}
	}
}

// Without a CPU limit, none is excluded.
func TestACauseWithoutALimit(t *testing.T) {
	for _, c := range []struct {
		used *float64
		want string
	}{
		{nil, "a lock, a pool or a backend: 0.60 CPUs used; the busiest thread 60%."},
		{ptr(0.3), "a lock, a pool or a backend, not its CPU limit: 30% used; the busiest thread 60%."},
	} {
		cell := cellOf("node", breaksBetween(90, 100, 110, summary.ByService))
		cell.Breaking.Shown = []finding.Finding{{Kind: finding.NothingUsedUp, Share: 0.6, Use: finding.Use{Cores: ptr(0.6), OfLimit: c.used}}}
		if why := answer.Of(&summary.Summary{Cells: numbered(cell)}).Why; why != c.want {
			t.Errorf("%q, want %q", why, c.want)
		}
	}
}

// A service that misses in bursts may have no breaking point, and one with few slow requests
// has one: a longer search decides.
func TestAnAnswerThatWasRefuted(t *testing.T) {
	cell := cellOf("node", noPoint("it missed the objective at 158, and later met it at 369; it misses it in bursts, or it still warms up"))
	cell.Breaking.Ended, cell.Breaking.TrafficS = string(search.Uneven), 52
	a := answer.Of(&summary.Summary{Cells: numbered(cell)})
	want := []string{"No breaking point was found for node: it missed the objective at 158, and later met it at 369.",
		"Why: it misses it in bursts, or it still warms up.", "Do: give it more time: --set measure.duration=2m."}
	if !slices.Equal(a.Lines(), want) {
		t.Errorf("%q, want %q", a.Lines(), want)
	}
}
