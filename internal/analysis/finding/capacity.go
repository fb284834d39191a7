package finding

// What shows that something limits a service. Load is where it was seen.
const (
	OOMKills            Kind = iota + 500 // N of them
	RequestsFailed                        // a Share of them, as Counts has it; the service ended N times
	AlsoFailed                            // likewise, beside another limit
	LimitUsed                             // Use of its own CPU limit
	LimitOrParallelism                    // likewise, as N busy threads; whether it was throttled is not known
	LimitOrLock                           // Use at Load, which does not decide between the two
	ThrottledInBursts                     // although less of the limit was used, on average: Use
	DependencyLimitUsed                   // Text is the dependency: Use
	DependencyThrottled                   // likewise, although less of its limit was used
	DependencyWaited                      // a request took Value ms, and waited Other ms of it
	DependencyOrPool                      // likewise; whether it waits longer than at low loads was not measured
	AlsoWaited                            // likewise, at low loads and beside another limit
	ThreadsBusy                           // Use at Load, as N busy threads
	HostBusy                              // Use at Load, and Host; N busy threads may be the limit as well
	FallsBehind                           // Other requests/s of Load were answered, with Use; the busiest thread ran or waited for a CPU a Share of the time, 0: not known
	NothingUsedUp                         // Use; Share likewise
	HostNotIdle                           // Host
	NoFreePorts                           // for N connections
	AcceptQueueFull                       // N attempts to connect were dropped; Of may wait
	MemoryStalled                         // something waited for memory for a Share of the time, at the memory limit
	MemoryRefaults                        // a request read Value evicted pages again, at the memory limit
	ThreadsFull                           // N threads ran or waited for a CPU nearly all the time at Load, with Use
	AcksDelayed                           // the last part of N answers waited for an acknowledgement, a Share of those that took as long
	AlsoDelayed                           // likewise, beside another limit
	AlsoAwake                             // without requests it used Value CPUs, a Share of its limit (0: it has none), in threads that never sleep; beside a limit
	AgentsRan                             // Value of Of agents until the end of trial N
	AlsoCollected                         // a Share of the CPU time collected garbage, beside a limit
	KeepsUp                               // as FallsBehind, but nearly all of Load were answered
)

// Two findings that exclude each other. Because has what shows the limit.
const (
	TailOfGenerator    Kind = iota + 550 // a Share of the slow tail
	TailNotThrottled                     // only a Share of it is throttling, in an Allowed share of the periods
	TailThrottled                        // a Share of it is throttling
	TailOfDependency                     // a Share of it is the dependency
	NoMoreWithoutLimit                   // the service holds Other without the limit, and Load with it
	NoMoreAsItIs                         // likewise, the server as it is
	MoreWithoutLimit                     // likewise, and Other is more
	MissesWithoutLimit                   // without the limit the service missed its objective at Other, and Load is its breaking point with it
	LateBesideLimit                      // a Share of the late requests waited while some of the limit was left; Text: the kind that almost all are of
)

// Why a ramp has no breaking point, or only a bound, and what qualifies it. Load is a
// level, and By what was the limit.
const (
	FirstLevelMissed    Kind = iota + 600
	MissedAboveLimited       // Load misses the objective, and By was the limit at Other
	MissedAboveSilence       // Load misses the objective, and no request ended below
	MissedBesideOthers       // Because has who took CPU
	LevelLimited             // nothing is known about the service
	LevelLimitedAbove        // it may handle more
	LevelLimitedBetween      // between the two levels that decide
	NoLevelEnded             // no request ended at any level
	NoLevelEndedAbove        // or above Load
	EveryLevelMet
	MetAgain           // Load misses the objective, and Loads above it meet it
	OthersAtLevel      // Because has who took CPU
	TrialsBesideOthers // in N of Of trials others took CPU at the level that decides
	AgentsStopped      // early, and a Share of the load was missing
)

// What several searches found together.
const (
	ServiceSkipped  Kind = iota + 650
	NoSearch             // was possible
	EachGaveBound        // each of N, the highest Load
	SomeFoundNoLoad      // N of Of found none that meets the objective; Because has why
	SomeFoundLoads       // N of Of did, up to Load
	SomeGaveBounds       // N of Of gave a lower bound, at least Load
	SomeLeftOut          // N of Of found no breaking point
)
