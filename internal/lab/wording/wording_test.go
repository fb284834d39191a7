package wording

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/test/testkit/golden"
)

func number(v float64) *float64 { return &v }

var (
	used98  = finding.Use{Cores: number(0.98), OfLimit: number(0.98), Throttled: number(0.87), PerPeriod: number(0.054)}
	used30  = finding.Use{Cores: number(0.3), OfLimit: number(0.3), Throttled: number(0.25)}
	noLimit = finding.Use{Cores: number(1.01)}
	cut     = []finding.Count{{N: 3, Name: "refused"}, {N: 214, Name: "cut off"}}
	nodes   = finding.Host{Busy: 1.9, Idle: 0.1, CPUs: 2, Name: "a"}
	ab      = []string{"a", "b"}
	limit   = []finding.Finding{{Kind: finding.LimitUsed, Use: used98}}
	others  = []finding.Finding{{Kind: finding.NeighboursUsed, Host: finding.Host{Busy: 0.5, Name: "a"}}, {Kind: finding.HypervisorTook, Host: finding.Host{Busy: 0.25}}}
	search  = []finding.Finding{{Kind: finding.NothingMissed, Load: 700}}
)

// Figures that differ from one another, so that no two can be swapped unseen.
var samples = []finding.Finding{
	{Kind: finding.NothingToMiss},
	{Kind: finding.UpperEndUnknown, Load: 1234.56},
	{Kind: finding.WideInterval, Seconds: 57.5, Load: 300},
	{Kind: finding.FailsAtAnyLoad, Share: 0.125, Allowed: 0.01},
	{Kind: finding.MissedAtEveryLoad, Load: 0.78},
	{Kind: finding.MissedAtLowest, Load: 12, Because: []finding.Finding{{Kind: finding.LateOrFailed, Share: 0.02, Allowed: 0.01}, {Kind: finding.WithoutGoodAnswer, Share: 0.3, Allowed: 0.001}}},
	{Kind: finding.NothingAnswered, Load: 12},
	{Kind: finding.TooShort, Time: 3 * time.Second},
	{Kind: finding.GeneratorLimitAbove, Load: 40_000},
	{Kind: finding.GeneratorLimitAtLowest, Load: 50},
	{Kind: finding.MetAtHighestAllowed, Load: 1_000_000},
	search[0],
	{Kind: finding.Unavailable, Load: 3200, Because: []finding.Finding{{Kind: finding.StoppedAnswering, Requests: 480, Again: 50, Load: 60}}},
	{Kind: finding.EndedUnavailable, Load: 3200, Because: []finding.Finding{{Kind: finding.Recorded, Text: "it died"}}},
	{Kind: finding.NothingEnded, N: 4, Load: 50},
	{Kind: finding.BesideOthers, Who: finding.Neighbour},
	{Kind: finding.BesideOthers, Who: finding.Hypervisor, Time: 58 * time.Second, Because: []finding.Finding{{Kind: finding.MetAndMissedNear, Load: 200, Requests: 6400}}},
	{Kind: finding.BoundBesideOthers, Who: finding.Neighbour | finding.Hypervisor, Load: 280, Requests: 1400},
	{Kind: finding.BoundBesideOthers, Who: finding.Stop, Load: 280, Requests: 1400},
	{Kind: finding.EndedEarly, Text: "agent 1 failed"},
	{Kind: finding.BoundEndedEarly, Text: "agent 1 failed"},
	{Kind: finding.Interrupted},
	{Kind: finding.CapacityRose, Load: 190, Other: 950, Seconds: 66},
	{Kind: finding.MetFarAbove, Load: 158, Other: 369},
	{Kind: finding.CapacityFell, Load: 800, Other: 210, Seconds: 66},
	{Kind: finding.TooFewToDecide, Requests: 12300, Share: 0.00024, Allowed: 0.0001, Again: 100000},
	{Kind: finding.MissesInBursts, Load: 230, Seconds: 7.3, Share: 0.041, Allowed: 0.01},
	{Kind: finding.MissesInBursts, Load: 64, Share: 0.03, Allowed: 0.01},
	{Kind: finding.BurstsUndecided, Load: 78.6, Seconds: 30, N: 1, Share: 0.009, Allowed: 0.01},
	{Kind: finding.LateAtAnyLoad, Load: 122.8, Share: 0.023, Allowed: 0.01},
	{Kind: finding.PerhapsLateAtAnyLoad, Load: 13.1, Share: 0.014, Allowed: 0.01},
	{Kind: finding.LateOrFailed, Share: 0.02, Allowed: 0.01},
	{Kind: finding.WithoutGoodAnswer, Share: 0.3, Allowed: 0.001},
	{Kind: finding.StoppedAnswering, Requests: 480, Again: 50, Load: 60},
	{Kind: finding.NoRequestEnded, N: 4},
	{Kind: finding.MetAndMissedNear, Load: 200, Requests: 6400},
	{Kind: finding.MetTooBriefly, Load: 50, N: 3, Requests: 1000, Seconds: 2.5},
	{Kind: finding.MetByTooFew, Load: 50, N: 1, Requests: 1},
	{Kind: finding.MetByTooFew, Load: 50, N: 2, Requests: 90},
	{Kind: finding.Recorded, Text: "it was killed"},
	{Kind: finding.RecoveryNotAsked},
	{Kind: finding.FewUsers},
	{Kind: finding.OthersTookCPU, Who: finding.Hypervisor},
	{Kind: finding.GeneratorLimit},
	{Kind: finding.RecoveryTimeUsed},
	{Kind: finding.OverloadMet, Load: 450},
	{Kind: finding.NoOverload},
	{Kind: finding.NothingSustained},
	{Kind: finding.NoBreakingPoint},
	{Kind: finding.UnavailableBefore},
	{Kind: finding.NotBroken},
	{Kind: finding.NotMeasured},

	{Kind: finding.OOMKills, N: 2},
	{Kind: finding.RequestsFailed, Share: 0.123456, Counts: cut},
	{Kind: finding.RequestsFailed, Share: 0.123456, Counts: cut, N: 1},
	{Kind: finding.AlsoFailed, Share: 0.02, Counts: cut},
	{Kind: finding.LimitUsed, Use: used98},
	{Kind: finding.LimitUsed, Use: noLimit},
	{Kind: finding.LimitUsed},
	{Kind: finding.LimitOrParallelism, Use: finding.Use{OfLimit: number(0.99)}, N: 2},
	{Kind: finding.LimitOrLock, Load: 300, Use: used98},
	{Kind: finding.ThrottledInBursts, Use: used30},
	{Kind: finding.DependencyLimitUsed, Text: "db", Use: used98},
	{Kind: finding.DependencyThrottled, Text: "db", Use: used30},
	{Kind: finding.DependencyWaited, Value: 12.34, Other: 9.87},
	{Kind: finding.DependencyOrPool, Value: 12.34, Other: 9.87},
	{Kind: finding.AlsoWaited, Value: 12.34, Other: 9.87},
	{Kind: finding.ThreadsBusy, Load: 300, Use: noLimit, N: 1},
	{Kind: finding.ThreadsBusy, Load: 20, Users: true, Use: used98, N: 2},
	{Kind: finding.ThreadsFull, Load: 300, Use: noLimit, N: 1},
	{Kind: finding.HostBusy, Load: 300, Use: noLimit, Host: nodes},
	{Kind: finding.HostBusy, Load: 300, Use: noLimit, Host: nodes, N: 1},
	{Kind: finding.FallsBehind, Load: 300, Other: 210, Use: finding.Use{Cores: number(0.55)}},
	{Kind: finding.FallsBehind, Load: 300, Other: 210, Use: finding.Use{Cores: number(1)}, Share: 0.22},
	{Kind: finding.KeepsUp, Load: 480, Other: 475, Use: finding.Use{Cores: number(0.72)}},
	{Kind: finding.KeepsUp, Load: 480, Other: 475, Use: finding.Use{Cores: number(0.72)}, Share: 0.72},
	{Kind: finding.NothingUsedUp, Use: used30, Failed: true},
	{Kind: finding.NothingUsedUp, Use: used30, Share: 0.22},
	{Kind: finding.HostNotIdle, Host: nodes},
	{Kind: finding.NoFreePorts, N: 17},
	{Kind: finding.AcceptQueueFull, N: 30, Of: 8},
	{Kind: finding.MemoryStalled, Share: 0.4, Value: 5},
	{Kind: finding.MemoryRefaults, Value: 5},
	{Kind: finding.AcksDelayed, N: 300, Share: 0.97},
	{Kind: finding.AlsoCollected, Share: 0.96},
	{Kind: finding.AlsoDelayed, N: 957, Share: 0.94},
	{Kind: finding.AlsoAwake, Value: 0.45, Share: 0.9},
	{Kind: finding.AlsoAwake, Value: 1},
	{Kind: finding.AgentsRan, Value: 19, Of: 20, N: 3},
	{Kind: finding.TailOfGenerator, Share: 0.6},
	{Kind: finding.TailNotThrottled, Share: 0.02, Allowed: 0.45, Because: limit},
	{Kind: finding.TailThrottled, Share: 0.7, Because: limit},
	{Kind: finding.TailOfDependency, Share: 0.03, Because: limit},
	{Kind: finding.NoMoreWithoutLimit, Load: 300, Other: 290, Because: limit},
	{Kind: finding.NoMoreWithoutLimit, Load: 300, Other: 290, By: "service"},
	{Kind: finding.MissesWithoutLimit, Load: 300, Other: 120, Because: limit},
	{Kind: finding.NoMoreAsItIs, Load: 300, Other: 301, Because: limit},
	{Kind: finding.MoreWithoutLimit, Load: 300, Other: 600, Because: limit},
	{Kind: finding.LateBesideLimit, Share: 0.64, Because: limit},
	{Kind: finding.LateBesideLimit, Share: 0.64, Because: limit, Text: "GET /slow"},

	{Kind: finding.FirstLevelMissed, Load: 1000},
	{Kind: finding.MissedAboveLimited, Load: 2000, Other: 1000, By: summary.ByHost},
	{Kind: finding.MissedAboveSilence, Load: 2000},
	{Kind: finding.MissedBesideOthers, Load: 2000, Because: others},
	{Kind: finding.LevelLimited, Load: 1000, By: summary.ByGenerator},
	{Kind: finding.LevelLimitedAbove, Load: 1000, By: summary.ByGenerator},
	{Kind: finding.LevelLimitedBetween, Load: 1000, By: summary.ByHost},
	{Kind: finding.NoLevelEnded},
	{Kind: finding.NoLevelEndedAbove, Load: 1000},
	{Kind: finding.EveryLevelMet},
	{Kind: finding.MetAgain, Load: 100, Loads: []float64{200}},
	{Kind: finding.MetAgain, Load: 100, Loads: []float64{200, 300}},
	{Kind: finding.MetAgain, Load: 100, Loads: []float64{200, 300, 400, 500}},
	{Kind: finding.OthersAtLevel, Load: 1000, Because: others[1:]},
	{Kind: finding.TrialsBesideOthers, N: 2, Of: 6},
	{Kind: finding.AgentsStopped, Share: 0.05},
	{Kind: finding.ServiceSkipped},
	{Kind: finding.NoSearch},
	{Kind: finding.EachGaveBound, N: 3, Load: 510},
	{Kind: finding.SomeFoundNoLoad, N: 2, Of: 3, Because: []finding.Finding{{Kind: finding.NothingAnswered, Load: 1}}},
	{Kind: finding.SomeFoundLoads, N: 1, Of: 3, Load: 320},
	{Kind: finding.SomeGaveBounds, N: 1, Of: 2, Load: 500, AtLeast: true, Because: search},
	{Kind: finding.SomeLeftOut, N: 1, Of: 6, Because: []finding.Finding{{Kind: finding.Interrupted}}},
	{Kind: finding.SomeLeftOut, N: 2, Of: 6, Because: []finding.Finding{{Kind: finding.Interrupted}}},

	{Kind: finding.IntervalAbove, Value: 1.5, Text: "times", Because: []finding.Finding{{Kind: finding.Interval}}},
	{Kind: finding.IntervalBelow, Value: 0.103, Text: "share", Because: []finding.Finding{{Kind: finding.RangeOfTrials, N: 3}}},
	{Kind: finding.IntervalContains, Value: 4500, Text: "requests/s", Because: []finding.Finding{{Kind: finding.RangeOfLevels}}},
	{Kind: finding.LowerBoundBelow, Value: 250_000_000, Text: "bytes"},
	{Kind: finding.IntervalAbove, Value: 99.5, Text: "%", Because: []finding.Finding{{Kind: finding.IntervalOfSearch}}},
	{Kind: finding.IntervalBelow, Value: 97, Text: "ms", Because: []finding.Finding{{Kind: finding.RangeOfSteps, N: 2}}},
	{Kind: finding.EventsInTrials, Value: 1, Text: "OOM kills", N: 2, Of: 3},
	{Kind: finding.EventsUnderLessLoad, Value: 3, Text: "restarts", N: 0, Of: 2},
	{Kind: finding.NoEventInOneTrial, Value: 1, Text: "OOM kills", N: 0, Of: 1},
	{Kind: finding.InOrder, Share: 0.029},
	{Kind: finding.LiesAbove, Names: ab, Share: 0.0022},
	{Kind: finding.Alike, Names: ab, Share: 0.39},
	{Kind: finding.AlikeByLowerBound, Names: ab},
	{Kind: finding.PairNotTested, Names: ab, Gap: string(summary.FewTrials), N: 2, Of: 4},
	{Kind: finding.PairNotTested, Names: ab, Gap: string(summary.OneStart)},
	{Kind: finding.PairNotTested, Names: ab, Gap: string(summary.DisturbedTrials)},
	{Kind: finding.PairNotTested, Names: ab, Gap: string(summary.GeneratorsDelay)},
	{Kind: finding.Interval},
	{Kind: finding.IntervalOfSearch},
	{Kind: finding.RangeOfTrials, N: 3},
	{Kind: finding.RangeOfSteps, N: 2},
	{Kind: finding.RangeOfLevels},
	{Kind: finding.NoSuchCell, Names: ab},
	{Kind: finding.NoSuchLevel, Names: ab, Load: 2500.5},
	{Kind: finding.NothingMeasured, Names: ab},
	{Kind: finding.NothingMeasured, Names: ab, Text: "bun is not installed"},
	{Kind: finding.MetricNotMeasured, Names: ab, Text: "p99 of waiting for the dependency"},
	{Kind: finding.NoSingleLevel, Names: ab, Text: "p99"},
	{Kind: finding.OneTrial, Names: ab},
	{Kind: finding.NotSearched, Names: ab},
	{Kind: finding.NoneFound, Names: ab, Because: search},
	{Kind: finding.RestartedEachTrial, Names: ab},
	{Kind: finding.MemoryNotMeasured, Names: ab},
	{Kind: finding.OneTrialNoGrowth, Names: ab},
	{Kind: finding.OneStepOfGrowth, Names: ab},
	{Kind: finding.Disturbed, Names: ab, Who: finding.Neighbour},
	{Kind: finding.Disturbed, Names: ab, Who: finding.Neighbour | finding.Hypervisor},
	{Kind: finding.MostlyDisturbed, Names: ab},
	{Kind: finding.GeneratorWasLimit, Names: ab},
	{Kind: finding.SentLate, Names: ab},
	{Kind: finding.TailIsGenerators, Names: ab},
	{Kind: finding.RatioToZero, Names: ab},
	{Kind: finding.BothLowerBounds},
	{Kind: finding.TooFewCPUs, N: 2, Of: 6},
	{Kind: finding.OneStart, Text: summary.BySearch},
	{Kind: finding.OneStart, Text: summary.ByLevels},
	{Kind: finding.OnlyLowerBound, Names: ab, Because: search},
	{Kind: finding.LowerBoundByFailures, Names: ab},
	{Kind: finding.TouchedBy, Names: ab, Text: string(summary.FlagBusyNeighbour)},
	{Kind: finding.NotRestarted},
	{Kind: finding.SetOnCommandLine, Names: []string{"limits", "load", "the service"}},

	{Kind: finding.ObjectiveMet},
	{Kind: finding.ObjectiveMissed},
	{Kind: finding.ObjectiveUnknown},
	{Kind: finding.NoLoadMeets},
	{Kind: finding.LoadUnknown},
	{Kind: finding.MeetsUpTo, Load: 352.4},
	{Kind: finding.MeetsUpTo, Load: 12, Users: true, AtLeast: true},
	{Kind: finding.EstimatedUpTo, Load: 352.4},
	{Kind: finding.ObjectiveIs, Text: "p99 <= 100ms"},
	{Kind: finding.Measured, Because: []finding.Finding{{Kind: finding.QuantileMeasured, Text: "p99", Value: 23.52}, {Kind: finding.AvailabilityMeasured, Value: 99.95}}},
	{Kind: finding.MeasuredAt, Load: 352.4, Because: []finding.Finding{{Kind: finding.QuantileTogether, Text: "p99", Value: 23.52, AtLeast: true}}},
	{Kind: finding.MissedAt, Load: 400},
	{Kind: finding.NotDecided, Because: []finding.Finding{{Kind: finding.NearByTrials, Text: "p99", Value: 77.6, Other: 114}}},
	{Kind: finding.NearByTrials, Text: "p99", Value: 77.6, Other: math.Inf(1)},
	{Kind: finding.NearByFew, Text: "p99", Value: 77.6, Other: 114},
	{Kind: finding.TooFewRequests, Text: "p99", N: 360, Of: 1000},
	{Kind: finding.NearAvailability, Value: 99.95, Other: 100},
	{Kind: finding.DisturbedMiss},
	{Kind: finding.QuantileOfNoLevel, Text: "p99"},
	{Kind: finding.QuantileMeasured, Text: "p99", Value: 23.52},
	{Kind: finding.QuantileTogether, Text: "p99", Value: 23.52},
	{Kind: finding.AvailabilityOfNone},
	{Kind: finding.AvailabilityMeasured, Value: 99.95},
	{Kind: finding.OutlyingTrials, Text: "p99", Value: 12.5, Of: 6, N: 1, Other: 350},
	{Kind: finding.OutlyingTrials, Text: "p99", Value: 12.5, Of: 6, N: 2, Other: math.Inf(1)},
	{Kind: finding.FailedRequests, Share: 0.0148},
	{Kind: finding.LateRequests, Share: 0.0148, Time: 100 * time.Millisecond},
	{Kind: finding.OnlyGeneratorMisses},
	{Kind: finding.TrialsInvalid, N: 1},
	{Kind: finding.TrialsFailed, N: 2},
	{Kind: finding.TrialsCutOff, N: 1},
	{Kind: finding.TrialsLeftOut, N: 2},
	{Kind: finding.TrialsNamed, Names: []string{"5"}, Because: []finding.Finding{{Kind: finding.Recorded, Text: "no such file"}}},
	{Kind: finding.TrialsNamed, Names: []string{"5", "6"}, N: 2, Because: []finding.Finding{{Kind: finding.Recorded, Text: "no such file"}}},
	{Kind: finding.SkippedService, Text: "bun"},
	{Kind: finding.OrderOfFailure},
	{Kind: finding.LoadsOfFailure},
	{Kind: finding.FailAtLoads, Because: []finding.Finding{{Kind: finding.CellsFail, Names: ab, Load: 200, Text: "requests/s"}, {Kind: finding.CellsFail, Names: ab[:1], Load: 300}}},
	{Kind: finding.HoldToLoads, Because: []finding.Finding{{Kind: finding.CellsHold, Names: ab, Load: 500}}},
	{Kind: finding.CellsFail, Names: ab, Load: 200, Text: "users"},
	{Kind: finding.CellsHold, Names: ab[:1], Load: 500},
	{Kind: finding.NotRanked, Because: []finding.Finding{{Kind: finding.NoTest, Gap: string(summary.FewTrials), N: 1, Text: "ramp", Of: 4}}},
	{Kind: finding.NoTest, Gap: string(summary.FewTrials), N: 2, Of: 4},
	{Kind: finding.SomeAlike},
	{Kind: finding.MemoryGrows},
	{Kind: finding.MemoryPeaks, Loads: []float64{100 << 20, 200 << 20}, Other: 2},
	{Kind: finding.MemoryPeaks, Loads: []float64{100 << 20, 200 << 20}, Value: 400 << 20, Other: 2},

	{Kind: finding.Stopped, Text: "api", Seconds: 1.5},
	others[0],
	others[1],
	{Kind: finding.TookFromRequests, Who: finding.Neighbour | finding.Hypervisor, Share: 0.05, N: 2, Of: 20},
	{Kind: finding.AgentWaited, Value: 0.25, Other: 12.34},
	{Kind: finding.AgentThrottled, Value: 0.05},
	{Kind: finding.AgentWaits, Value: 0.15},
	{Kind: finding.AgentLate, Value: 2.4},
	{Kind: finding.TrialDisturbed, N: 3, Text: "a neighbour took 0.78 CPUs"},
	{Kind: finding.TrialDisturbed, N: 3, Because: others},
}

// TestWords compares the words of each kind with those that were read and approved.
func TestWords(t *testing.T) {
	var text strings.Builder
	seen := map[finding.Kind]bool{}
	for _, f := range samples {
		seen[f.Kind] = true
		fmt.Fprintln(&text, Of(f))
	}
	for kind := range table {
		if !seen[kind] {
			t.Errorf("kind %d has words, and no sample", kind)
		}
	}
	golden.Check(t, "words.txt", text.String())
}

func TestNothingHasNoWords(t *testing.T) {
	if got := Joined([]finding.Finding{{}, {Kind: finding.NotMeasured}, {}}); got != Of(finding.Finding{Kind: finding.NotMeasured}) {
		t.Errorf("%q", got)
	}
	if got := Evidence([]finding.Finding{{Kind: finding.OOMKills, N: 1}, {Kind: finding.AlsoFailed, Share: 0.5, Counts: cut[:1]}}); got != "1 OOM kill in the windows above it, and at the lowest loads that missed the objective 50% of the requests got no good answer (3 were refused)" {
		t.Errorf("%q", got)
	}
}

func TestSourcesAreNamedByWhatTheyDid(t *testing.T) {
	for s, want := range map[finding.Source]string{
		finding.Neighbour:                      "other processes took CPU",
		finding.Neighbour | finding.Hypervisor: "other processes or the hypervisor took CPU",
		finding.Stop:                           "a signal or a frozen control group stopped the service",
		finding.Hypervisor | finding.Stop:      "the hypervisor took CPU and a signal or a frozen control group stopped the service",
	} {
		if got := did(s); got != want {
			t.Errorf("%d: %q, want %q", s, got, want)
		}
	}
}

func TestFailedRequestsHaveWords(t *testing.T) {
	failed := summary.ErrorCounts{Timeouts: 1, Refused: 1, Cut: 1, Malformed: 1, Failed: 1, Status: map[string]int64{"500": 1}, Dropped: 1}
	var words []string
	for _, f := range failed.Failures() {
		words = append(words, Failed(f.Name))
	}
	want := "timed out, were refused, were cut off, got an answer that was not HTTP, got an answer that failed a check, got an error status, were due and never sent"
	if got := strings.Join(words, ", "); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
