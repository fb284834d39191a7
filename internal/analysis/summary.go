package analysis

import (
	"math"

	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/record"
)

// Summary is summary.json: what a record says, for programs. Values that were not
// measured are null, never 0.
type Summary struct {
	Experiment SummaryExperiment `json:"experiment"`
	Host       record.Host       `json:"host"`
	Cells      []CellSummary     `json:"cells"`
	// Comparisons are with the first cell that has enough trials.
	Comparisons []Comparison `json:"comparisons,omitempty"`
	// Unbounded are those of which not every figure is a number, which JSON cannot write.
	Unbounded []Unbounded `json:"-"`
	// Ranking is the evidence for each pair of cells, by the figure of Comparisons.
	Ranking  []Evidence `json:"ranking,omitempty"`
	Claims   []Claim    `json:"claims,omitempty"` // of the experiment, in its order
	Findings []Finding  `json:"findings"`
	// Common is the second part of a run of searches: every cell at one load. null: there
	// is none, or the run ended before.
	Common *Summary `json:"common_load,omitempty"`
}

// SummaryExperiment names the experiment, and how much of it the record holds.
type SummaryExperiment struct {
	Name          string `json:"name"`
	About         string `json:"about,omitempty"`
	Started       string `json:"started"` // RFC 3339
	Platform      string `json:"platform"`
	Seed          uint64 `json:"seed"`
	TrialsPlanned int    `json:"trials_planned"`
	TrialsDone    int    `json:"trials_done"`
	Interrupted   bool   `json:"interrupted"`
	Kept          bool   `json:"kept,omitempty"` // services stayed up between the trials of their cells
	// Server: the services are one server in several settings; null: they are not.
	Server *experiment.Server `json:"server,omitempty"`
}

// CellSummary is one cell over all its trials. Latencies come from the merged
// histograms of the measured frames, and counts are sums. From six trials on,
// Intervals holds the 95% interval of the median over trials (order statistics), by
// field path ("latency_ms.p99"). With fewer trials it holds the intervals of the
// latencies by a bootstrap of frames, which are valid for these trials only.
type CellSummary struct {
	Cell         int                `json:"cell"` // index in the plan
	Label        string             `json:"label"`
	Service      string             `json:"service"`
	Vary         map[string]*string `json:"vary"`
	Limits       LimitsSummary      `json:"limits"`
	Load         LoadSummary        `json:"load"`
	Trials       int                `json:"trials"`
	Kept         bool               `json:"kept,omitempty"` // the trials are of one process
	Requests     int64              `json:"requests"`       // that were due: ended, good or not, or never sent
	RateRPS      *float64           `json:"rate_rps"`       // good answers per second
	Availability *float64           `json:"availability"`
	LatencyMS    *Quantiles         `json:"latency_ms"`
	// OfAll are the quantiles of all requests, as in TrialFigures; null: LatencyMS has them.
	OfAll        *AllRequests          `json:"of_all_requests,omitempty"`
	ServiceMS    *Quantiles            `json:"service_ms"`
	Errors       ErrorCounts           `json:"errors"`
	CPU          CPUSummary            `json:"cpu"`
	Replicas     *ReplicasSummary      `json:"replicas,omitempty"` // if the platform reports their number over time
	Memory       MemorySummary         `json:"memory"`
	WaitsMS      *WaitsSummary         `json:"waits_ms"` // null: the service does not report waits, or did not wait
	Restarts     *int64                `json:"restarts"`
	Frozen       string                `json:"frozen,omitempty"` // until the end of a trial: by a "signal", or "hung"; "": it was not
	Dependencies []DependencySummary   `json:"dependencies,omitempty"`
	Benchmarks   []BenchmarkSummary    `json:"benchmarks,omitempty"` // what a service that measures itself printed
	Generator    GeneratorSummary      `json:"generator"`
	Host         HostSummary           `json:"host"`
	Objective    *ObjectiveSummary     `json:"objective"`
	Steps        []Step                `json:"steps,omitempty"`   // with stages: one per level held
	Breaking     *BreakingPoint        `json:"breaking_point"`    // null: not searched for
	Knee         *Knee                 `json:"knee"`              // null: not found, or a single level of load
	Causes       *Causes               `json:"causes"`            // null: unknown
	Profile      *Profile              `json:"profile,omitempty"` // if one was taken
	Disturbance  *Disturbance          `json:"disturbance"`       // null: no trial ran to its end
	Flags        Flags                 `json:"flags"`
	Intervals    map[string][2]float64 `json:"intervals"`
	IntervalsOf  string                `json:"intervals_of,omitempty"` // what they rest on: trials, or frames
	PerTrial     []TrialFigures        `json:"per_trial"`
}

type LimitsSummary struct {
	CPUMillis   *int64 `json:"cpu_millis"`
	MemoryBytes *int64 `json:"memory_bytes"`
	BurstMillis *int64 `json:"burst_millis"`
	Replicas    int    `json:"replicas"` // at the start
	// MostReplicas is the highest number of replicas; 0: their number is fixed.
	MostReplicas int `json:"most_replicas,omitempty"`
}

// ReplicasSummary is how many replicas there were during the measurement.
type ReplicasSummary struct {
	Least int     `json:"least"`
	Most  int     `json:"most"`
	Mean  float64 `json:"mean"`
}

type LoadSummary struct {
	Kind     string   `json:"kind"` // closed, open, or benchmark: no requests were sent
	Users    *float64 `json:"users"`
	Rate     *float64 `json:"rate"`
	Requests *int64   `json:"requests"`
	Stages   bool     `json:"stages"`         // Users or Rate is then the highest target
	Find     bool     `json:"find,omitempty"` // Users or Rate is then what the search tested last
}

// Quantiles are in milliseconds.
type Quantiles struct {
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	// Beyond is how many latencies lie beyond the histograms' range of an hour. The
	// mean and the figures above an hour are then lower bounds.
	Beyond int64 `json:"beyond_range,omitempty"`
}

// Named is one quantile with its name, in milliseconds.
type Named struct {
	Name  string // as the JSON has it
	Value float64
}

// All returns the quantiles in ascending order, including the highest latency, but
// without the mean and the lowest.
func (q *Quantiles) All() []Named {
	return []Named{{"p50", q.P50}, {"p90", q.P90}, {"p95", q.P95}, {"p99", q.P99}, {"p999", q.P999}, {"max", q.Max}}
}

// Named returns a quantile by its name. An unknown name is infinite, so that it never
// meets an objective.
func (q *Quantiles) Named(name string) float64 {
	for _, one := range q.All() {
		if one.Name == name {
			return one.Value
		}
	}
	return math.Inf(1)
}

// ErrorCounts are the requests without a good answer, by the reason.
type ErrorCounts = sums.Errors

// Failure is a kind of failed requests.
type Failure = sums.Failure

// BadStatus is the name of the answers whose status was not accepted.
const BadStatus = sums.BadStatus

type CPUSummary struct {
	Cores            *float64 `json:"cores"`    // of all replicas together
	OfLimit          *float64 `json:"of_limit"` // 0..1; null without a limit
	Periods          *int64   `json:"periods"`
	ThrottledPeriods *int64   `json:"throttled_periods"`
	ThrottledMS      *float64 `json:"throttled_ms"` // summed over CPUs and replicas
	Limit            *float64 `json:"limit_cores"`  // of all replicas together
}

type MemorySummary struct {
	PeakBytes *int64   `json:"peak_bytes"` // the highest of one replica
	OfLimit   *float64 `json:"of_limit"`
	OOMKills  *int64   `json:"oom_kills"`
}

// WaitsSummary is how long the service reports that it waited for its dependency, in
// milliseconds: an insert's latency if it waits for inserts. The quantiles are
// interpolated within the bounds of its histogram, and are at most the highest bound.
type WaitsSummary struct {
	P50  *float64 `json:"p50"` // null: its bounds changed
	P99  *float64 `json:"p99"`
	Mean float64  `json:"mean"`
}

type DependencySummary struct {
	Name             string   `json:"name"`
	Cores            *float64 `json:"cores"` // of all its processes
	Periods          *int64   `json:"periods"`
	ThrottledPeriods *int64   `json:"throttled_periods"`
	PeakBytes        *int64   `json:"peak_bytes"` // the highest of all its processes together, at one time
	OOMKills         *int64   `json:"oom_kills"`
	Restarts         *int64   `json:"restarts"`
}

type GeneratorSummary struct {
	Cores        *float64 `json:"cores"`
	SendLagP99US *float64 `json:"send_lag_p99_us"`
	RunWaitCores *float64 `json:"run_wait_cores"` // seconds waited for a CPU, per second
	// ThrottledShare is the share of the agents' time in which their own CPU limit
	// throttled them; null: not measured.
	ThrottledShare *float64 `json:"throttled_share,omitempty"`
	// OpenConnections is the highest number of connections open at one time; null: not
	// measured.
	OpenConnections *int64 `json:"open_connections,omitempty"`
	Resent          int64  `json:"resent,omitempty"`      // requests sent a second time, because the service closed their idle connection
	Stray           int64  `json:"stray,omitempty"`       // connections replaced because of bytes that belong to no answer
	NoPorts         int64  `json:"no_ports,omitempty"`    // connections not made for lack of a local port
	Lost            int    `json:"lost_agents,omitempty"` // agents that stopped under load, over all trials
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

// HostSummary is the mean CPU use of the machines that the services ran on, summed
// over machines.
type HostSummary struct {
	IdleCores    *float64 `json:"idle_cores"`
	ForeignCores *float64 `json:"foreign_cores"`
	StealCores   *float64 `json:"steal_cores"`
}

// ObjectiveSummary is the objective and whether it was met.
type ObjectiveSummary struct {
	Text         string   `json:"text"`         // "p99 <= 250ms, availability >= 99.9%"
	Quantile     string   `json:"quantile"`     // "p99"; "": no latency objective
	LatencyMS    *float64 `json:"latency_ms"`   // highest latency of the quantile; null likewise
	Availability *float64 `json:"availability"` // percent; null: no availability objective
	Met          *bool    `json:"met"`          // null: unknown
	// Missed explains why the objective was missed, or why that is unknown, if the
	// latencies do not show it: they
	// are those of answered requests. "": they do, or it was not missed.
	Missed string `json:"missed,omitempty"`
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

// TrialFigures are the figures of one trial, from which the intervals are computed.
type TrialFigures struct {
	Trial        int      `json:"trial"`
	RateRPS      *float64 `json:"rate_rps"`
	P50          *float64 `json:"p50_ms"`
	P90          *float64 `json:"p90_ms"`
	P95          *float64 `json:"p95_ms"`
	P99          *float64 `json:"p99_ms"`
	P999         *float64 `json:"p999_ms"`
	Availability *float64 `json:"availability"`       // percent
	CPUPerReqMS  *float64 `json:"cpu_per_request_ms"` // of the service, per good answer
	Throttled    *float64 `json:"throttled_of_periods"`
	Breaking     *float64 `json:"breaking_point"` // requests/s or users
	// BreakingFrom and BreakingTo bound a breaking point that has no value of its own: the
	// bound of a search, the two levels of a ramp. Without BreakingFrom the trial missed
	// the objective at the lowest load, BreakingTo, or the service died there.
	BreakingFrom *float64 `json:"breaking_from,omitempty"`
	BreakingTo   *float64 `json:"breaking_to,omitempty"`
	// OfAll are the quantiles of all requests, of which the failed ones count as
	// infinitely late; null: P50 to P999 are those. One that is null is infinite.
	OfAll        *AllRequests `json:"of_all_requests,omitempty"`
	Good         *float64     `json:"requests"` // good answers
	Min          *float64     `json:"min_ms"`
	Max          *float64     `json:"max_ms"`
	CPUOfLimit   *float64     `json:"cpu_of_limit"`  // 0..1; null without a limit
	CPUMax       *float64     `json:"cpu_max_cores"` // of the service in its busiest frame
	MemoryPeak   *float64     `json:"memory_peak_bytes"`
	OOMKills     *float64     `json:"oom_kills"` // of all replicas, in every phase
	Restarts     *float64     `json:"restarts"`  // likewise
	WaitsP99     *float64     `json:"waits_p99_ms"`
	Dependencies *float64     `json:"dependency_cores"` // of all dependencies together
	Attempt      int          `json:"attempt"`
	Beyond       int64        `json:"beyond_range,omitempty"` // latencies beyond the histograms' range
}

// AllRequests are quantiles of all requests in milliseconds; null: infinite.
type AllRequests struct {
	P50  *float64 `json:"p50_ms"`
	P90  *float64 `json:"p90_ms"`
	P95  *float64 `json:"p95_ms"`
	P99  *float64 `json:"p99_ms"`
	P999 *float64 `json:"p999_ms"`
}

// named is a quantile over all requests, of which the answered ones have others. If failed
// requests make it infinite, it is that of the answered ones, which is a lower bound.
func (a *AllRequests) named(quantile string, answered *Quantiles) (v float64, atLeast bool) {
	if a == nil {
		return answered.Named(quantile), false
	}
	for name, all := range map[string]*float64{"p50": a.P50, "p90": a.P90, "p95": a.P95, "p99": a.P99, "p999": a.P999} {
		if name == quantile && all != nil {
			return *all, false
		}
	}
	return answered.Named(quantile), true
}

// OfAllRequests is a latency quantile of all requests of the cell together, of which the
// failed ones count as infinitely late. atLeast: it is infinite, and the value is that of
// the answered ones. The cell must have latencies.
func (c *CellSummary) OfAllRequests(quantile string) (v float64, atLeast bool) {
	return c.OfAll.named(quantile, c.LatencyMS)
}

// latency is a quantile of all requests of a trial. If it is infinite, it is that of the
// answered ones, which is a lower bound: see Infinite.
func (t *TrialFigures) latency(answered *float64, of func(*AllRequests) *float64) *float64 {
	if t.OfAll != nil {
		if v := of(t.OfAll); v != nil {
			return v
		}
	}
	return answered
}

// Finding is a statement about the record, with its numbers in the text.
type Finding struct {
	Level string `json:"level"` // result, warning
	Cell  *int   `json:"cell"`  // index; null: the whole record
	Title string `json:"title"`
	Text  string `json:"text"`
	// Searched: the answer of a search, which the cell's breaking point has too.
	Searched bool `json:"-"`
}
