package summary

import "github.com/millicore/millicore/internal/analysis/finding"

// BreakingPoint is the highest load that still meets the objective, and what limits
// it. RateRPS (or Users) is null if none was found; Reason then says why.
type BreakingPoint struct {
	RateRPS   *float64 `json:"rate_rps"`   // open loop
	Users     *float64 `json:"users"`      // closed loop
	Low       *float64 `json:"low"`        // in the unit of the load; Searches decides what it is the end of
	High      *float64 `json:"high"`       // null if AtLeast
	AtLeast   bool     `json:"at_least"`   // a lower bound only
	LimitedBy string   `json:"limited_by"` // one of the constants below, or ""
	Evidence  string   `json:"evidence"`   // the figures that LimitedBy rests on, in words: Shown
	// Contradiction are two findings that exclude each other, with their figures.
	// LimitedBy is then empty.
	Contradiction string `json:"contradiction,omitempty"`
	// EvidenceAt are the lowest and the highest load of the windows that Evidence is about,
	// which missed the objective. The cell's own figures are of other windows: those that
	// tested the answer. Empty: Evidence is not about windows of a search.
	EvidenceAt []float64 `json:"evidence_at,omitempty"`
	Reason     string    `json:"reason"` // why there is none, or only a bound, in words: Why
	// FirstKind is the kind of request that has almost all of the late or failed requests near the
	// breaking point, or at the lowest loads if there is none; "": no kind has.
	FirstKind      string  `json:"first_kind,omitempty"`
	FirstKindShare float64 `json:"first_kind_share,omitempty"` // of the late or failed requests, 0..1
	TrafficS       float64 `json:"traffic_s"`                  // seconds of load that the search took, in its longest trial
	Searches       int     `json:"searches"`                   // trials that gave an answer, by a search or a ramp, each with its own start
	// DisturbedBy is who else took CPU during the search: Neighbours, Hypervisor;
	// empty: nobody.
	DisturbedBy []string `json:"disturbed_by,omitempty"`

	// Of a search. With several, of the one whose load is nearest to the answer.
	Ended    string `json:"ended,omitempty"`    // why it ended: a search.Ended; ByGenerator or ByHost instead of "limited"
	Held     *Step  `json:"held,omitempty"`     // the highest load whose test windows met the objective; null: none did
	Missed   *Step  `json:"missed,omitempty"`   // the lowest load above it whose windows missed it; null: none did
	Untested bool   `json:"untested,omitempty"` // no test window near the answer met the objective
	// RecoversAt is the highest load tried after an overload at which it met the objective
	// again; null: at none, or it was not measured. Recovery has the reason. Of several
	// searches it is that of the worst.
	RecoversAt *float64  `json:"recovers_at,omitempty"`
	Recovery   *Recovery `json:"recovery,omitempty"` // null: a ramp

	// What was found; package wording makes the words of them.
	Why     []finding.Finding `json:"-"` // why there is none, or only a bound, and what qualifies it
	Shown   []finding.Finding `json:"-"` // what LimitedBy rests on
	Refuted finding.Finding   `json:"-"` // the contradiction; none: nothing excludes the limit
}

// Load is the breaking point in its own unit; nil if none was found.
func (b *BreakingPoint) Load() *float64 {
	if b.Users != nil {
		return b.Users
	}
	return b.RateRPS
}

// OverStarts reports whether Low and High are the ends of a 95% interval over starts
// of the service.
func (b *BreakingPoint) OverStarts() bool { return b.Searches >= EnoughTrials }

// What limits a service: the values of limited_by. docs/method.md has what each
// requires.
const (
	ByCPULimit    = "cpu limit"               // it uses its quota, and the kernel stops it
	ByThrottling  = "throttling"              // the kernel stops it, although it uses less than its quota on average
	ByMemory      = "memory"                  // OOM kills, or reading again what the memory limit evicted
	ByAcceptQueue = "accept queue"            // the kernel drops attempts to connect, because the queue is full
	ByDelayedAck  = "delayed acknowledgement" // the last part of its answers waits for the client to acknowledge the part before
	ByErrors      = "errors"                  // bad answers, although the latency is met
	ByDependency  = "dependency"              // one is at its own CPU limit, or requests mostly wait for it
	ByParallelism = "parallelism"             // all of its threads are busy, and no limit stops them
	ByService     = "service"                 // none of these is shown: its own parallelism, locks, queues
	ByGenerator   = "generator"               // an agent could not send more: a lower bound
	ByHost        = "host"                    // the CPUs of the machine are busy; a lower bound if none was idle
)

// Recovery is how a service behaved without draining, and after an overload. Loads are
// in the unit of the breaking point.
type Recovery struct {
	// Sustained is whether it met the objective at the load SustainedAt, without draining
	// before; null: not clear, or not measured.
	Sustained   *bool    `json:"sustained"`
	SustainedAt *float64 `json:"sustained_at"`
	Overload    *float64 `json:"overload"` // the highest load before the descent
	NotAt       *float64 `json:"not_at"`   // the lowest load tried after it at which it missed the objective for too long; null: none
	Lost        string   `json:"lost"`     // why the service could no longer be measured after the overload; "" otherwise
	Reason      string   `json:"reason"`   // why it is not known whether it recovers; "" otherwise
	Searches    [2]int   `json:"searches"` // how many searches found hysteresis, of how many that measured it

	Why finding.Finding `json:"-"` // the reason; none: it is known
}

// Hysteresis reports whether the service, after an overload, missed the objective at
// loads more than 15% below the one that it held before, for longer than a backlog
// alone explains.
func (r *Recovery) Hysteresis() bool { return r != nil && r.Searches[0] > 0 }
