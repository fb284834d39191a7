package summary

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/data/signals"
)

// Cell is one cell over all its trials. Latencies come from the merged
// histograms of the measured frames, and counts are sums. From six trials on,
// Intervals holds the 95% interval of the median over trials (order statistics), by
// field path ("latency_ms.p99"). With fewer trials it holds the intervals of the
// latencies by a bootstrap of frames, which are valid for these trials only.
type Cell struct {
	Cell         int                `json:"cell"` // index in the plan
	Label        string             `json:"label"`
	Service      string             `json:"service"`
	Vary         map[string]*string `json:"vary"`
	Limits       Limits             `json:"limits"`
	Load         Load               `json:"load"`
	Trials       int                `json:"trials"`
	Kept         bool               `json:"kept,omitempty"` // the trials are of one process
	Requests     int64              `json:"requests"`       // that were due: ended, good or not, or never sent
	RateRPS      *float64           `json:"rate_rps"`       // good answers per second
	Availability *float64           `json:"availability"`
	LatencyMS    *Quantiles         `json:"latency_ms"`
	// OfAll are the quantiles of all requests, as in TrialFigures; null: LatencyMS has them.
	OfAll        *AllRequests          `json:"of_all_requests,omitempty"`
	ServiceMS    *Quantiles            `json:"service_ms"`
	FirstByteMS  *Quantiles            `json:"first_byte_ms,omitempty"` // the first bytes of the answer - intended; null: each came at once
	StreamsMS    *Streams              `json:"streams_ms,omitempty"`
	DialsMS      *Dials                `json:"dials_ms,omitempty"`
	Errors       ErrorCounts           `json:"errors"`
	CPU          CPU                   `json:"cpu"`
	Replicas     *Replicas             `json:"replicas,omitempty"` // if the platform reports their number over time
	Memory       Memory                `json:"memory"`
	Kinds        []KindFigures         `json:"kinds,omitempty"`    // of requests; null: the load has one kind
	Sessions     *Sessions             `json:"sessions,omitempty"` // null: the load has none
	Start        *Start                `json:"start,omitempty"`    // null: the service ran already
	WaitsMS      *Waits                `json:"waits_ms"`           // null: the service does not report waits, or did not wait
	Restarts     *int64                `json:"restarts"`
	Ended        *int64                `json:"processes_ended,omitempty"` // beside the main process, which ran on; null: not measured
	Stuck        int64                 `json:"stuck,omitempty"`           // requests of the warm-up that did not end before the load did, of all trials
	Frozen       string                `json:"frozen,omitempty"`          // until the end of a trial: by a "signal", or "hung"; "": it was not
	Dependencies []Dependency          `json:"dependencies,omitempty"`
	Beside       *Beside               `json:"beside_neighbour,omitempty"` // null: no neighbour ran beside the service on purpose
	Benchmarks   []Benchmark           `json:"benchmarks,omitempty"`       // what a service that measures itself printed
	Generator    Generator             `json:"generator"`
	Host         Host                  `json:"host"`
	Objective    *Objective            `json:"objective"`
	Steps        []Step                `json:"steps,omitempty"`     // with stages: one per level held
	Breaking     *BreakingPoint        `json:"breaking_point"`      // null: not searched for
	Knee         *Knee                 `json:"knee"`                // null: not found, or a single level of load
	Causes       *Causes               `json:"causes"`              // null: unknown
	Own          *OwnCause             `json:"own_cause,omitempty"` // under a constant load; null: no counter shows one
	Profile      *Profile              `json:"profile,omitempty"`   // if one was taken
	Disturbance  *Disturbance          `json:"disturbance"`         // null: no trial ran to its end
	Flags        Flags                 `json:"flags"`
	Intervals    map[string][2]float64 `json:"intervals"`
	IntervalsOf  string                `json:"intervals_of,omitempty"` // what they rest on: trials, or frames
	PerTrial     []TrialFigures        `json:"per_trial"`
}

// OwnCause is what makes a service slow without using up its CPU limit, by counters of its
// own.
type OwnCause struct {
	By       string          `json:"by"`       // as in limited_by
	Evidence string          `json:"evidence"` // in words: Shown
	Shown    finding.Finding `json:"-"`
}

// How a service was frozen at the end of a trial.
const (
	FrozenBySignal = "signal" // such as SIGSTOP
	FrozenHung     = "hung"   // it neither answered nor used CPU
)

type Limits struct {
	CPUMillis   *int64 `json:"cpu_millis"`
	MemoryBytes *int64 `json:"memory_bytes"`
	BurstMillis *int64 `json:"burst_millis"`
	// RequestMillis is the CPU request, which is only a weight; null: none.
	RequestMillis *int64 `json:"request_millis,omitempty"`
	Replicas      int    `json:"replicas"` // at the start
	// MostReplicas is the highest number of replicas; 0: their number is fixed.
	MostReplicas int `json:"most_replicas,omitempty"`
}

// Replicas is how many replicas there were during the measurement.
type Replicas struct {
	Least int     `json:"least"`
	Most  int     `json:"most"`
	Mean  float64 `json:"mean"`
}

type Load struct {
	Kind     string   `json:"kind"` // closed, open, or benchmark: no requests were sent
	Users    *float64 `json:"users"`
	Rate     *float64 `json:"rate"`
	Requests *int64   `json:"requests"`
	Stages   bool     `json:"stages"`           // Users or Rate is then the highest target
	Find     bool     `json:"find,omitempty"`   // Users or Rate is then what the search tested last
	Replay   bool     `json:"replay,omitempty"` // of an access log, at its times
}

type CPU struct {
	Cores            *float64 `json:"cores"`    // of all replicas together
	OfLimit          *float64 `json:"of_limit"` // 0..1; null without a limit
	Periods          *int64   `json:"periods"`
	ThrottledPeriods *int64   `json:"throttled_periods"`
	ThrottledMS      *float64 `json:"throttled_ms"` // summed over CPUs and replicas
	Limit            *float64 `json:"limit_cores"`  // of all replicas together
}

type Memory struct {
	PeakBytes *int64   `json:"peak_bytes"` // the highest of one replica
	OfLimit   *float64 `json:"of_limit"`
	OOMKills  *int64   `json:"oom_kills"`
}

// Start is the start of median length, of the slowest replica each, of so many trials.
type Start struct {
	signals.Start
	Trials int `json:"trials"`
}

// Waits is how long the service reports that it waited for its dependency, in
// milliseconds: an insert's latency if it waits for inserts. The quantiles are
// interpolated within the bounds of its histogram, and are at most the highest bound.
type Waits struct {
	P50  *float64 `json:"p50"` // null: its bounds changed
	P99  *float64 `json:"p99"`
	Mean float64  `json:"mean"`
}

type Dependency struct {
	Name             string   `json:"name"`
	Cores            *float64 `json:"cores"` // of all its processes
	Periods          *int64   `json:"periods"`
	ThrottledPeriods *int64   `json:"throttled_periods"`
	PeakBytes        *int64   `json:"peak_bytes"` // the highest of all its processes together, at one time
	OOMKills         *int64   `json:"oom_kills"`
	Restarts         *int64   `json:"restarts"`
}

// Beside is how a service and the busy neighbour that ran beside it on purpose divided the CPUs:
// of searches in the windows above the breaking point that missed the objective, where the
// service was overloaded, otherwise over the whole load. Figures are null where nothing was
// measured.
type Beside struct {
	Wanted    float64  `json:"wanted_cores"` // of the neighbour: its limit
	Neighbour *float64 `json:"neighbour_cores"`
	Service   *float64 `json:"service_cores"`
	Generator *float64 `json:"generator_cores"`
}

type Generator struct {
	Cores        *float64 `json:"cores"`
	SendLagP99US *float64 `json:"send_lag_p99_us"`
	RunWaitCores *float64 `json:"run_wait_cores"` // seconds waited for a CPU, per second
	// ThrottledShare is the share of the agents' time in which their own CPU limit
	// throttled them; null: not measured.
	ThrottledShare *float64 `json:"throttled_share,omitempty"`
	// OpenConnections is the highest number of connections open at one time; null: not
	// measured.
	OpenConnections *int64 `json:"open_connections,omitempty"`
	Resent          int64  `json:"resent,omitempty"`        // requests sent a second time, because the service closed their idle connection
	Stray           int64  `json:"stray,omitempty"`         // connections replaced because of bytes that belong to no answer
	NoPorts         int64  `json:"no_ports,omitempty"`      // connections not made for lack of a local port
	OtherSources    int64  `json:"other_sources,omitempty"` // connections of an agent from 127.0.0.2 and so on
	Lost            int    `json:"lost_agents,omitempty"`   // agents that stopped under load, over all trials
	// Limited: it could not send the load, so that rates are lower bounds. SentLate: the
	// lateness of its requests matters, so that latencies include its own delay. A
	// generator that sends late may reach the rate.
	Limited  bool `json:"limited"`
	SentLate bool `json:"sent_late,omitempty"`
	// DueRPS and SentRPS are the requests per second that were due, and sent; null: not
	// measured.
	DueRPS  *float64 `json:"due_rps,omitempty"`
	SentRPS *float64 `json:"sent_rps,omitempty"`
}

// Host is the mean CPU use of the machines that the services ran on, summed
// over machines.
type Host struct {
	IdleCores    *float64 `json:"idle_cores"`
	ForeignCores *float64 `json:"foreign_cores"`
	StealCores   *float64 `json:"steal_cores"`
}

// Objective is the objective and whether it was met.
type Objective struct {
	Text         string   `json:"text"`         // "p99 <= 250ms, availability >= 99.9%"
	Quantile     string   `json:"quantile"`     // "p99"; "": no latency objective
	LatencyMS    *float64 `json:"latency_ms"`   // highest latency of the quantile; null likewise
	Availability *float64 `json:"availability"` // percent; null: no availability objective
	Met          *bool    `json:"met"`          // by all requests together; null: unknown
	// Outcome is what the record shows: Met is a point, which has an interval.
	Outcome Outcome `json:"outcome"`
	// Missed explains why the objective was missed, or why that is unknown, if the
	// latencies do not show it: they are those of answered requests. "": they do, or it was
	// not missed.
	Missed string `json:"missed,omitempty"`
	// MissedBy is what Missed has in words.
	MissedBy finding.Finding `json:"-"`
	// LateAtMost is the upper end of the 95% interval of the share of requests that are later
	// than LatencyMS, 0..1, if late ones come in such bursts as the slow tail does; 0: unknown.
	LateAtMost float64 `json:"-"`
}

// Outcome of an objective.
type Outcome string

const (
	Met      Outcome = "met"
	Missed   Outcome = "missed"
	TooClose Outcome = "too close"      // its interval contains the objective, or the requests are too few
	Unknown  Outcome = "not determined" // it was not measured, or a search found no load
)

// With returns the outcome of two objectives together: that of the one that decides both.
func (o Outcome) With(other Outcome) Outcome {
	for _, one := range []Outcome{Missed, Unknown, TooClose, Met} {
		if o == one || other == one {
			return one
		}
	}
	return ""
}

// Step is one level that a load in stages held.
type Step struct {
	Target       float64      `json:"target"`
	RateRPS      float64      `json:"rate_rps"`
	Availability *float64     `json:"availability"`
	LatencyMS    *Quantiles   `json:"latency_ms"`
	OfAll        *AllRequests `json:"of_all_requests,omitempty"` // as of a cell
	CPUOfLimit   *float64     `json:"cpu_of_limit"`
	Throttled    *float64     `json:"throttled_of_periods"` // 0..1
	Seconds      float64      `json:"seconds"`              // measured, over all trials
	Met          *bool        `json:"met"`                  // the objective; null: there is none, or it is unknown
}

// Has reports whether a cell has a flag.
func (c *Cell) Has(f Flag) bool { return c.Flags.Has(f) }

// Skipped reports whether the cell's service was not available where the record was
// made, so that no trial ran.
func (c *Cell) Skipped() bool { return c.Has(FlagSkipped) }

// Quantile is the latency quantile of the cell's objective, or p99 if it has none.
func (c *Cell) Quantile() string {
	if c.Objective == nil || c.Objective.Quantile == "" {
		return "p99"
	}
	return c.Objective.Quantile
}

// OfAllRequests is a latency quantile of all requests of the cell together, of which the
// failed ones count as infinitely late. atLeast: it is infinite, and the value is that of
// the answered ones. The cell must have latencies.
func (c *Cell) OfAllRequests(quantile string) (v float64, atLeast bool) {
	return c.OfAll.Named(quantile, c.LatencyMS)
}

// StepAt is the step of a cell at a target; nil: it did not hold that level.
func (c *Cell) StepAt(target float64) *Step {
	for i := range c.Steps {
		if c.Steps[i].Target == target {
			return &c.Steps[i]
		}
	}
	return nil
}

// DisturbedBy reports whether it is known that one of Neighbours and Hypervisor took
// CPU during the search for the cell's breaking point.
func (c *Cell) DisturbedBy(who string) bool {
	return c.Breaking != nil && slices.Contains(c.Breaking.DisturbedBy, who)
}

// MostlyDisturbed reports whether more than half of the cell's trials that count are
// disturbed. Its median is then one of disturbed trials.
func (c *Cell) MostlyDisturbed() bool {
	return c.Disturbance != nil && 2*c.Disturbance.Kept > len(c.PerTrial)
}

// MemoryPeaks returns the trials' memory peaks in bytes, in the order of the trials.
func (c *Cell) MemoryPeaks() []float64 {
	inOrder := slices.SortedFunc(slices.Values(c.PerTrial), func(a, b TrialFigures) int { return a.Trial - b.Trial })
	var peaks []float64
	for _, t := range inOrder {
		if t.MemoryPeak != nil {
			peaks = append(peaks, *t.MemoryPeak)
		}
	}
	return peaks
}
