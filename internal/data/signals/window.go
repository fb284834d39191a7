package signals

import "time"

// WindowKind is the reason why a replica could not run.
type WindowKind string

const (
	Throttled WindowKind = "throttled" // by its CPU limit, until the period's end
	Down      WindowKind = "down"      // it had died, or was not ready again
)

// Window is one line of windows.ndjson: a stretch of time in which a replica could not
// run. A throttle window is rebuilt from the kernel's counters: it ends at the end of
// a period, and its length is the throttled time divided by the number of running
// CPUs, at most a period.
type Window struct {
	Trial int        `json:"trial"`
	Cell  int        `json:"cell"`
	Of    string     `json:"of"`      // service or dependency
	Index int        `json:"replica"` // from 0
	Kind  WindowKind `json:"kind"`
	Start int64      `json:"start"` // unix nanoseconds
	End   int64      `json:"end"`
	// Throttled is the kernel's figure that the window was rebuilt from: nanoseconds,
	// summed over CPUs. CPUs is the divisor.
	Throttled int64 `json:"throttled_ns,omitempty"`
	CPUs      int   `json:"cpus,omitempty"`
}

// ThrottleSample is a reading of a replica's counters, a hundred times per second. A nil
// pointer means "not measured".
type ThrottleSample struct {
	At               time.Time
	Periods          *int64
	ThrottledPeriods *int64
	Throttled        *time.Duration // summed over CPUs
	CPU              *time.Duration // used; may be nil if reading it is expensive
	Up               bool
}

// SearchStep is one line of steps.ndjson: one load that a search for the breaking
// point held, and the window in which it was measured: the intervals First to Last of
// the trial (a frame's Seq). If a step never reached its window, Last is below First.
type SearchStep struct {
	Trial int     `json:"trial"`
	Cell  int     `json:"cell"`
	Step  int     `json:"step"`  // from 0
	Stage string  `json:"stage"` // of the search: bracket, narrow, test
	Load  float64 `json:"load"`  // requests/s, or users
	Begin int64   `json:"begin"` // unix nanoseconds: when the load was set
	First int     `json:"first"`
	Last  int     `json:"last"`
	Cut   bool    `json:"cut,omitempty"`  // the window ended early, because it had already shown enough
	Gone  string  `json:"gone,omitempty"` // why the service could no longer be measured, in words
	Lost  string  `json:"lost,omitempty"` // why the load could no longer be generated, in words; it ends the search
	// Bounds are those of the search, on its first step; null: those of the experiment.
	Bounds *SearchBounds `json:"bounds,omitempty"`
}

// SearchBounds replace the bounds that the experiment gives a search, because earlier
// searches of the same server have shown where to look.
type SearchBounds struct {
	First float64 `json:"first"`          // the load to begin with, requests/s or users
	Most  float64 `json:"most,omitempty"` // the highest load to try; 0: that of the experiment
	// Short: half of the experiment's time, and no test of how the service recovers.
	Short bool `json:"short,omitempty"`
}
