package narrative

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/test/sample"
)

func TestSentencesOfARecord(t *testing.T) {
	got := map[string]string{}
	s := &summary.Summary{Experiment: summary.Experiment{Name: "limits", Platform: "docker", Started: "2026-09-12T10:04:31Z", Seed: 4711, TrialsPlanned: 18, TrialsDone: 7}}
	got["a record"] = strings.Join(RunFacts(s), " · ")
	s.Experiment.Started, s.Experiment.TrialsDone = "some day", 18
	got["a record of another day"] = strings.Join(RunFacts(s), " · ")
	hz, memory := 250, int64(8)<<30
	got["a host"] = strings.Join(HostFacts(record.Host{OS: "linux", Arch: "arm64", Kernel: "6.18.2", HZ: &hz, CPUs: 3, CPUModel: "EPYC", Memory: &memory, Cgroup: "v2", Runtimes: map[string]string{"go": "go1.26.8"}}), " · ")
	got["a host of an unknown model"] = strings.Join(HostFacts(record.Host{CPUModel: "EPYC"}), " · ")
	limits := func(cpu, memory, burst int64, replicas, most int) *summary.Cell {
		return &summary.Cell{Limits: summary.Limits{CPUMillis: &cpu, MemoryBytes: &memory, BurstMillis: &burst, Replicas: replicas, MostReplicas: most}}
	}
	got["limits"] = strings.Join([]string{LimitsText(limits(1500, 256<<20, 200, 1, 0)), LimitsText(limits(500, 1<<30, 0, 2, 0)), LimitsText(limits(1000, 1<<30, 0, 2, 5)), LimitsText(&summary.Cell{})}, "\n")
	load := func(of summary.Load, change ...change) string {
		c := cellOf("go", change...)
		c.Load = of
		return LoadText(&c)
	}
	got["loads"] = strings.Join([]string{load(summary.Load{Kind: "closed", Users: ptr(12.0)}), load(summary.Load{Kind: "open", Rate: ptr(2100.0), Stages: true}),
		load(summary.Load{Kind: "open", Find: true}, breaksBetween(1, 2, 3, "")), load(summary.Load{Kind: "benchmark"}), load(summary.Load{Kind: "open", Requests: ptr(int64(3000))})}, "\n")
	one := cellOf("go", breaksBetween(338, 352, 366, ""))
	one.Objective = sample.Objective("p99", 250, 0)
	got["the setup of a search"] = strings.Join(SetupFacts(&summary.Summary{Cells: []summary.Cell{one}}), " · ")

	for _, word := range declaredFlags(t) {
		got["flag "+string(word)] = FlagLabel(word) + " | " + FlagText(word, &summary.Cell{Trials: 5})
	}
	timeouts := summary.Cell{Errors: summary.ErrorCounts{Unaccepted: 41, Timeouts: 57}}
	got["flag, of timeouts"] = FlagText(summary.FlagUnaccepted, &timeouts)
	got["flag, of users without an answer"] = FlagText(summary.FlagStuck, &summary.Cell{Stuck: 348, Trials: 2, Load: summary.Load{Users: new(200.0)}})
	got["flag, of requests"] = FlagText(summary.FlagStuck, &summary.Cell{Stuck: 12, Trials: 1})
	got["flag, of ports"] = FlagText(summary.FlagNoPorts, &summary.Cell{Generator: summary.Generator{NoPorts: 31}})
	got["flag, of two trials"] = FlagText(summary.FlagFewTrials, &summary.Cell{Trials: 2})
	got["flag, of a signal"] = FlagText(summary.FlagFrozen, &summary.Cell{Frozen: summary.FrozenBySignal})
	got["flag, of a lag"] = FlagText(summary.FlagSentLate, &summary.Cell{Generator: summary.Generator{SendLagP99US: ptr(2510.0)}})
	got["flag, of a lag of few requests"] = FlagText(summary.FlagSentLate, &summary.Cell{Generator: summary.Generator{SendLagP99US: ptr(2510.0)}, Flags: summary.Flags{summary.FlagFewRequests}})
	got["flag, of users"] = FlagText(summary.FlagGeneratorLimited, &summary.Cell{Load: summary.Load{Kind: "closed"}, Generator: summary.Generator{SendLagP99US: ptr(20.0)}})
	got["flag, of agents"] = FlagText(summary.FlagGeneratorLimited, &summary.Cell{Flags: summary.Flags{summary.FlagAgentLost}})
	got["flag, of a replay"] = FlagText(summary.FlagSentLate, &summary.Cell{Load: summary.Load{Replay: true}, Generator: summary.Generator{SendLagP99US: ptr(2510.0)}})
	got["flag, of a search"] = FlagText(summary.FlagGeneratorLimited, &summary.Cell{Load: summary.Load{Kind: "open", Find: true}})
	got["flag, of what was due"] = FlagText(summary.FlagGeneratorLimited, &summary.Cell{Load: summary.Load{Kind: "open"}, Generator: summary.Generator{Limited: true, DueRPS: ptr(101.0), SentRPS: ptr(83.0)}})
	got["flag, of windows"] = FlagText(summary.FlagNoWindows, &summary.Cell{CPU: summary.CPU{Periods: ptr(int64(100)), ThrottledPeriods: ptr(int64(45))}})
	got["flag, of deaths"] = FlagText(summary.FlagRestarted, &summary.Cell{Load: summary.Load{Find: true}, Restarts: ptr(int64(3))})
	for name, change := range map[string]change{"a search": func(c *summary.Cell) { c.Load.Find = true }, "a ramp": staged} {
		c := cellOf("go", breaksBetween(338, 352, 366, ""), change, disturbedBy(summary.Neighbours, summary.Hypervisor))
		got["flag, disturbed in "+name] = FlagText(summary.FlagSearchDisturbed, &c)
	}
	for i, n := range []int{2, 3, 10} {
		who := Flagged{Cells: make([]int, n)}
		for k := range who.Cells {
			who.Cells[k] = k
		}
		got[fmt.Sprint("flagged cells ", i)] = who.Who([]string{"a", "b", "c"}[:min(3, n+i%2)])
	}

	trial := func(by ...string) summary.Cell {
		return summary.Cell{Disturbance: &summary.Disturbance{By: by, Trials: 6, Disturbed: 3, Kept: 2, Quantile: "p99", Quiet: []float64{1, 2, 3}, Noisy: []float64{7, 8, 9}}}
	}
	window := summary.Cell{Load: summary.Load{Find: true}, Disturbance: &summary.Disturbance{By: []string{summary.Neighbours}, Trials: 40, Disturbed: 11, Quantile: "p99",
		Neighbours: []signals.Neighbour{{PID: 42, Name: "sh", Processes: 1, CPUs: 0.98}}}}
	itself := summary.Cell{Disturbance: &summary.Disturbance{By: []string{summary.Neighbours}, Trials: 1, Disturbed: 1, Kept: 1}}
	all := trial(summary.Neighbours, summary.Hypervisor, summary.Waiting, summary.Stops)
	older := trial()
	got["disturbed by all"], got["by an older rule"] = Disturbed([]*summary.Cell{&all}), Disturbed([]*summary.Cell{&older})
	got["disturbed windows"], got["disturbed trials and windows"] = Disturbed([]*summary.Cell{&window}), Disturbed([]*summary.Cell{&all, &window})
	got["a disturbed benchmark"] = Disturbed([]*summary.Cell{&itself})
	sentences(t, "record.txt", got)
}
