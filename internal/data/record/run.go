// Package record writes and reads the record of a run: a folder that grows during the
// run. A killed run loses at most its last interval, and every result can be computed
// from the record again. The package computes no results itself (package results does).
//
// The folder has run.json (the experiment, the plan, the host), trials.ndjson (the
// outcome of each trial), frames.ndjson (the measurements), windows.ndjson (when replicas
// could not run), slow.ndjson (the slow requests), steps.ndjson (the loads of a search),
// benchmarks.ndjson (the results of services that measure themselves), latency.hlog
// (histograms for HdrHistogram's tools), logs/ (the output of the services), and the
// derived files summary.json and report.html. A run of searches may have a second part
// at one common load, which is a record of its own in the folder common-load.
package record

import (
	"fmt"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// Version of the record's format. A reader refuses a newer one.
const Version = 1

// Names of the files in a record's folder.
const (
	RunFile     = "run.json"
	TrialsFile  = "trials.ndjson"
	FramesFile  = "frames.ndjson"
	WindowsFile = "windows.ndjson"
	SlowFile    = "slow.ndjson"
	StepsFile   = "steps.ndjson"
	LatencyFile = "latency.hlog"
	SummaryFile = "summary.json"
	ReportFile  = "report.html"
	LogsDir     = "logs"
	ProfilesDir = "profiles" // of cell n in cell-00n
	// CommonDir has the second part of a run of searches: the same files, of the trials
	// at one common load.
	CommonDir = "common-load"
)

// Run is run.json: everything that is known before the first trial.
type Run struct {
	Version    int                    `json:"version"`
	Program    string                 `json:"program"` // version of millicore that wrote it
	Experiment *experiment.Experiment `json:"experiment"`
	Platform   string                 `json:"platform"`
	Seed       uint64                 `json:"seed"`
	Plan       []experiment.Trial     `json:"plan"`
	Started    time.Time              `json:"started"`
	Host       Host                   `json:"host"`
	Skipped    []Skipped              `json:"skipped,omitempty"`
	// NoWindows means that the platform could not measure when replicas were throttled:
	// the record has counters of throttling, but no throttle windows.
	NoWindows bool `json:"no_windows,omitempty"`
}

// Skipped is a service that is not available on this machine. The plan has no trials of
// its cells.
type Skipped struct {
	Service string `json:"service"`
	Reason  string `json:"reason"` // with the installation
}

// Host describes the machine of the run. A nil pointer means "not known".
type Host struct {
	OS       string            `json:"os"`
	Arch     string            `json:"arch"`
	Kernel   string            `json:"kernel"`
	HZ       *int              `json:"hz"` // the kernel's CONFIG_HZ
	CPUs     int               `json:"cpus"`
	CPUModel string            `json:"cpu_model,omitempty"`
	Memory   *int64            `json:"memory_bytes"`
	Cgroup   string            `json:"cgroup"`   // "v1", "v2", "hybrid" or ""
	Runtimes map[string]string `json:"runtimes"` // name -> version of the installed ones
}

// Outcome is the result of a trial.
type Outcome string

const (
	Started     Outcome = "started"     // its end is not in the record: the run was killed
	Done        Outcome = "done"        // counts
	Disturbed   Outcome = "disturbed"   // counts only if no undisturbed attempt does
	Failed      Outcome = "failed"      // the service or an agent could not be started, or failed
	Invalid     Outcome = "invalid"     // a limit did not hold: it does not count
	Interrupted Outcome = "interrupted" // ended early: by the user, or by an eviction
	Profiled    Outcome = "profiled"    // an extra trial that took profiles and does not count
	Finished    Outcome = "finished"    // of the whole run, in its last line: the plan is done
)

// Trial is one line of trials.ndjson. A trial has one line at its start and one at its
// end. Each attempt of a planned trial has its own number. A run whose plan is done ends
// with a line Finished of trial 0.
type Trial struct {
	Trial   int     `json:"trial"` // number in the record, from 1
	Cell    int     `json:"cell"`
	Repeat  int     `json:"repeat"`  // of the cell, from 1
	Attempt int     `json:"attempt"` // from 0
	Outcome Outcome `json:"outcome"`
	Why     string  `json:"why,omitempty"` // the reason of all outcomes but started and done
	At      int64   `json:"at"`            // unix nanoseconds when the line was written
	// EndedEarly: the trial was certain to be disturbed and to be repeated, so its load was
	// ended.
	EndedEarly bool `json:"ended_early,omitempty"`
	// Neighbours are the processes that the run did not start and that used most CPU of this
	// machine during the load; absent if none used much, or if they are not known.
	Neighbours []signals.Neighbour `json:"neighbours,omitempty"`
	// LostAgents are the indexes of agents that failed under load. The others continued,
	// so the load was less than specified.
	LostAgents []int `json:"lost_agents,omitempty"`
	// LogDropped is how many bytes of the output of services and dependencies are not in
	// their logs, which are bounded.
	LogDropped int64 `json:"log_dropped_bytes,omitempty"`
	// Users are the user IDs, on this machine, of the first processes of the service and of
	// its dependencies, by name; absent where the platform does not know the processes.
	Users map[string]int `json:"users,omitempty"`
	// StoppedAgents are the indexes of agents that a signal, such as SIGSTOP, held under
	// load, for a time or permanently.
	StoppedAgents []int `json:"stopped_agents,omitempty"`
	// WarmUps is what the replicas of the service were sent before the load, in their order;
	// null: nothing, or the service ran already.
	WarmUps []signals.WarmUp `json:"warm_ups,omitempty"`
	// Starts is what it took until the replicas of the service were ready, in their order;
	// null: the service ran already.
	Starts []signals.Start `json:"starts,omitempty"`
}

// ProfileDir is the folder of a cell's profiles, relative to the record's.
func ProfileDir(cell int) string { return fmt.Sprintf("%s/cell-%03d", ProfilesDir, cell) }
