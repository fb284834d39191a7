package doctor

import (
	"maps"
	"slices"

	"github.com/millicore/millicore/internal/host/identity"
)

// Rule names the rule that made a finding. Scripts, baselines and suppressions use it, so it
// keeps its name whatever the figures and the words of a finding are. docs/doctor-rules.md lists
// all.
type Rule string

// The rules about the CPU limit.
const (
	ParallelismAboveLimit Rule = "parallelism-above-limit"
	LimitUsedUp           Rule = "limit-used-up"
	Throttled             Rule = "throttled"        // neither of the two above
	ShortOfCPU            Rule = "short-of-cpu"     // the limit is right: others take its CPU
	CannotUseLimit        Rule = "cannot-use-limit" // parallelism below the limit
	IgnoresLimit          Rule = "ignores-limit"    // a runtime does not read it
	LimitOfParent         Rule = "limit-of-parent"
	SharedLimit           Rule = "shared-limit" // used up by several groups with lower limits
	PoolsAboveLimit       Rule = "pools-above-limit"
	SpareCPU              Rule = "spare-cpu" // a limit and a request far above the peak of a long watch
)

// The rules about memory.
const (
	KilledForMemory  Rule = "killed-for-memory"
	NearMemoryLimit  Rule = "near-memory-limit"
	StalledForMemory Rule = "stalled-for-memory" // at a limit or memory.high, and threads wait
	HeapAboveLimit   Rule = "heap-above-limit"
	CacheAboveLimit  Rule = "cache-above-limit" // buffer pools, caches, pools of processes
	AtGOMEMLIMIT     Rule = "at-gomemlimit"
	SpareMemory      Rule = "spare-memory" // a limit far above the peak of a long watch
)

// problems are the rules in a few words.
var problems = map[Rule]string{
	ParallelismAboveLimit: "high parallelism",
	LimitUsedUp:           "limit used up",
	Throttled:             "throttled",
	ShortOfCPU:            "short of CPU",
	CannotUseLimit:        "cannot use its limit",
	IgnoresLimit:          "ignores its limit",
	LimitOfParent:         "limit of its parent",
	SharedLimit:           "shares a limit",
	PoolsAboveLimit:       "pools too large",
	SpareCPU:              "CPU to spare",

	KilledForMemory:  "killed for memory",
	NearMemoryLimit:  "near its memory limit",
	StalledForMemory: "stalled for memory",
	HeapAboveLimit:   "heap above the limit",
	CacheAboveLimit:  "cache above the limit",
	AtGOMEMLIMIT:     "GOMEMLIMIT in use",
	SpareMemory:      "memory to spare",
}

// Rules are all rules.
func Rules() []Rule { return slices.Sorted(maps.Keys(problems)) }

// Problem is the rule in a few words, for a table.
func (r Rule) Problem() string { return problems[r] }

// measures are the main figures of rules, and by how much they must rise to count as worse
// than in an earlier run. Near its threshold a service was throttled in 10% and in 69% of
// the periods of two equal watches, so a smaller rise shows nothing.
var measures = map[Rule]struct {
	name string
	rise float64
}{
	ParallelismAboveLimit: {"throttled_share", 0.25},
	LimitUsedUp:           {"throttled_share", 0.25},
	Throttled:             {"throttled_share", 0.25},
	SharedLimit:           {"throttled_share", 0.25},
	KilledForMemory:       {"oom_kills", 1},
	NearMemoryLimit:       {"used_share", 0.05},
	StalledForMemory:      {"memory_stalled_share", 0.25},
}

// Measure is the name of a rule's main figure, and the rise from which it is worse; "": only
// the level counts.
func (r Rule) Measure() (name string, rise float64) { return measures[r].name, measures[r].rise }

// Fingerprint identifies a finding across runs: it is of the rule and the service. Figures,
// levels, pids and hosts are not in it.
func (f *Finding) Fingerprint() string { return identity.Fingerprint(string(f.Rule), f.Process) }
