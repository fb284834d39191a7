// Package record is what stays of a run: a folder that grows while the run
// goes on, that a killed run leaves whole up to its last interval, and from
// which everything that is ever shown can be computed again.
//
// The folder holds run.json (what was asked, the plan, the host), trials.ndjson
// (what became of each trial), frames.ndjson (what was seen), windows.ndjson
// (when replicas could not run), slow.ndjson (the slow requests), steps.ndjson
// (the loads that a search held), benchmarks.ndjson (what services that measure
// themselves printed), latency.hlog (histograms for HdrHistogram's
// tools), logs/ (what the services said), and what was derived: summary.json and
// report.html.
package record

import (
	"fmt"
	"time"

	"github.com/millicore/millicore/internal/experiment"
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
)

// Run is run.json: all that was known before the first trial.
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
	// NoWindows is that the platform could not see when replicas were throttled: of
	// throttling there are counters only, and windows.ndjson has none of it.
	NoWindows bool `json:"no_windows,omitempty"`
}

// Skipped is a service that cannot be had on this machine. The plan has no
// trials of its cells.
type Skipped struct {
	Service string `json:"service"`
	Reason  string `json:"reason"` // in words, with what to install
}

// Host is the machine as the run found it. A nil pointer is "not known".
type Host struct {
	OS       string            `json:"os"`
	Arch     string            `json:"arch"`
	Kernel   string            `json:"kernel"`
	HZ       *int              `json:"hz"` // the kernel's CONFIG_HZ
	CPUs     int               `json:"cpus"`
	CPUModel string            `json:"cpu_model,omitempty"`
	Memory   *int64            `json:"memory_bytes"`
	Cgroup   string            `json:"cgroup"`   // "v1", "v2", "hybrid" or ""
	Runtimes map[string]string `json:"runtimes"` // name -> version, those that were found
}

// Outcome is what became of a trial.
type Outcome string

const (
	Started     Outcome = "started"     // its end is not in the record: the run was cut off
	Done        Outcome = "done"        // counts
	Disturbed   Outcome = "disturbed"   // counts only where no quieter attempt of it does
	Failed      Outcome = "failed"      // the service or an agent could not be started, or broke off
	Interrupted Outcome = "interrupted" // ended early: by the user, or as its machines took a part of it away
	Profiled    Outcome = "profiled"    // an extra trial that took profiles, and counts nowhere
	Finished    Outcome = "finished"    // of the whole run, in its last line: the plan was worked through
)

// Trial is one line of trials.ndjson. A trial has two: one at its start, one
// at its end. Attempts of the same planned trial have numbers of their own. A
// run that worked through its plan ends with a line Finished, of trial 0.
type Trial struct {
	Trial   int     `json:"trial"` // number in the record, from 1
	Cell    int     `json:"cell"`
	Repeat  int     `json:"repeat"`  // of the cell, from 1
	Attempt int     `json:"attempt"` // from 0
	Outcome Outcome `json:"outcome"`
	Why     string  `json:"why,omitempty"` // in words, for all but started and done
	At      int64   `json:"at"`            // unix nanoseconds when the line was written
	// LostAgents are the indexes of those that broke off in the middle of the load,
	// which went on with the others': it was less than what was asked for.
	LostAgents []int `json:"lost_agents,omitempty"`
}

// ProfileDir is the folder of a cell's profiles, relative to the record's.
func ProfileDir(cell int) string { return fmt.Sprintf("%s/cell-%03d", ProfilesDir, cell) }
