package main

import (
	"testing"
	"time"

	"github.com/millicore/millicore/test/freeze"
	"github.com/millicore/millicore/test/testkit/golden"
)

// All tables, of runs that were made up.
func TestTables(t *testing.T) {
	const us, ms = time.Microsecond, time.Millisecond
	runs := []run{
		costing(0, base, 10), costing(0, self, 8), costing(0, "fortio", 30),
		costing(1, base, 12), costing(1, self, 9), costing(1, "fortio", 31),
		costing(2, base, 11), costing(2, self, 8), costing(2, "fortio", 33),
	}
	runs[4].Foreign, runs[7].Steal = 0.5, 0.25
	runs[8] = run{Case: closedLoop, Round: 2, Tool: "fortio", Load: load{Seconds: 2}, Failure: "exit status 1:\n  out of\tfiles"}
	open := func(rate int, tool string, r report) run {
		return run{Case: openLoop(rate), Tool: tool, Load: load{Seconds: 2, Connections: 64, Rate: rate}, report: r, used: used{CPU: 50 * ms, Took: 2 * time.Second}}
	}
	runs = append(runs,
		open(2000, self, report{Good: 4000, P50: 120 * us, P99: 400 * us, Lag: 9 * us, LagP50: us}),
		open(2000, "h2load", report{Good: 4010, P50: 800 * us, P99: 1200 * us}),
		open(2000, "oha --latency-correction", report{Good: 3600, Dropped: 400, P50: 118 * us, P99: 1604 * us}),
		open(10_000, "fortio", report{Good: 20_000, Bad: 5, P50: 213 * us, P99: 2604 * us}),
	)
	fast := open(100_000, self, report{Good: 200_000, Drained: 10_000, P50: 300 * us, P99: 9 * ms, Lag: us})
	fast.Case, fast.CPU = asFast, 1900*ms
	memory := run{Case: manyIdle, Tool: self, Load: load{Seconds: 30, Connections: 1000}, report: report{Good: 3_000_000},
		used: used{CPU: time.Second, Peak: 18 << 20, First: 15 << 20, Middle: 17 << 20, Last: 17 << 20}}
	c := &freezes[0]
	froze := func(tool string, r report) run {
		truth := c.truth()
		truth.Late = freeze.Lateness{Answers: r.Good, P99: 90 * us, Most: 2 * ms}
		return run{Case: c.Name, Tool: tool, Load: load{Seconds: 10, Connections: 64, Rate: 1000}, report: r, used: used{CPU: time.Second}, Freeze: &truth}
	}
	runs = append(runs, fast, memory,
		froze("fortio", report{Good: 9100, P50: 1100 * us, P95: 2 * ms, P99: 8 * ms}),
		froze(self, report{Good: 10_000, P50: 1100 * us, P95: 509 * ms, P99: 903 * ms}),
		froze("oha --latency-correction", report{Good: 10_000, P50: 1100 * us, P95: 505 * ms, P99: 922 * ms}),
	)
	for round, cpu := range []time.Duration{20 * ms, 30 * ms} {
		for _, tool := range []string{h2load.Name, wholeLoad.Name} {
			runs = append(runs, run{Case: protocols[0].Name, Round: round, Tool: tool, Load: protocols[0].load(2), report: report{Good: 4000}, used: used{CPU: cpu, Took: 2 * time.Second, Peak: 9 << 20}})
			cpu += 2 * ms
		}
	}
	got := tables(runs, []string{"h2load is not installed, and left out."}, map[string]string{"wrk": "4.1.0", "fortio": "1.68.0", "oha": ""},
		facts{CPUs: 2, Model: "Some CPU", Arch: "amd64", Kernel: "6.1.0", Go: "go1.26", Took: 14*time.Minute + 400*ms, Steal: 0.0123}, bounds{Steal: 0.02, Foreign: 0.1})
	golden.Check(t, "tables.md", got)
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{7: "7", 999: "999", 2000: "2,000", 100_000: "100,000", 1_000_001: "1,000,001"} {
		if got := thousands(n); got != want {
			t.Errorf("%d is %q; want %q", n, got, want)
		}
	}
}
