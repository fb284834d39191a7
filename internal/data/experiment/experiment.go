// Package experiment holds an experiment as values: services, limits, loads,
// objectives and claims, the inputs of its requests, and the plan of trials that
// follows from them. The tags of its fields declare the keys of the experiment
// file; package file reads that file by them, and checks it. This package neither
// reads YAML nor runs anything.
package experiment

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/experiment/span"
)

// Bounds of an experiment.
const (
	MostCells  = 1000
	MostTrials = 10_000 // of all cells together
)

// Experiment is a file that has been read, checked and resolved: every
// combination of what is varied is a Cell with plain values.
type Experiment struct {
	Name      string     `json:"name"`
	About     string     `json:"about,omitempty"`
	Vary      []Axis     `json:"vary,omitempty"`
	Cells     []Cell     `json:"cells"`
	Measure   Measure    `json:"measure"`
	Objective *Objective `json:"objective,omitempty"`
	Claims    []Claim    `json:"claims,omitempty"`  // what was published, to be checked
	Server    *Server    `json:"server,omitempty"`  // the services are one server in several settings
	Profile   bool       `json:"profile,omitempty"` // one extra trial a cell, which counts nowhere, takes profiles
	Docker    Docker     `json:"docker,omitzero"`
	// Kubernetes is absent in JSON if the file sets nothing in it.
	Kubernetes Kubernetes `json:"kubernetes,omitzero"`
	Source     string     `json:"source"`         // the file's text, without secrets
	Sets       []string   `json:"sets,omitempty"` // what --set changed, without secrets
	// Given are the text and the settings as they were read; nil: they have no secrets.
	Given *Given `json:"-"`
}

// Given is the text of a file and the texts of --set, with their secrets.
type Given struct {
	Source string   `json:"source"`
	Sets   []string `json:"sets,omitempty"`
}

// AsGiven returns the file's text and the texts of --set as they were read.
func (e *Experiment) AsGiven() Given {
	if e.Given != nil {
		return *e.Given
	}
	return Given{e.Source, e.Sets}
}

// Docker has the settings for --on docker.
type Docker struct {
	// HostNetwork: containers use the machine's network, not a network of the run.
	HostNetwork bool `json:"host_network,omitempty" yaml:"network" enum:"own,host" default:"own" doc:"own: containers have a network of the run's own, and addresses in it; host: they use the machine's network."`
}

// Axis is one name of vary with its values in the file's order. nil leaves unset
// what the name stands for.
type Axis struct {
	Name   string    `json:"name"`
	Values []*string `json:"values"`
}

// Cell is one combination of what is varied, for one service.
type Cell struct {
	Index   int       `json:"index"` // from 0, in the file's order
	Service Service   `json:"service"`
	Vary    []Setting `json:"vary,omitempty"` // only the names that this service uses
	Limits  Limits    `json:"limits"`
	Load    Load      `json:"load"`
}

// Setting is one varied name and its value in a cell; nil: unset.
type Setting struct {
	Name  string  `json:"name"`
	Value *string `json:"value"`
}

// Label names the cell for people: "go procs=2", "go procs=unset".
func (c *Cell) Label() string {
	var b strings.Builder
	b.WriteString(c.Service.Name)
	for _, s := range c.Vary {
		b.WriteString(" " + s.Name + "=")
		if s.Value == nil {
			b.WriteString("unset")
		} else {
			b.WriteString(*s.Value)
		}
	}
	return b.String()
}

// Measure is the length and the number of trials. Duration is the length of a
// trial's measured part. Stages have their own length, and a number of requests has
// none. For a search, Duration is the maximum traffic time; for a benchmark, the
// time limit of a trial.
type Measure struct {
	Warmup   time.Duration `json:"warmup" yaml:"warmup" default:"5s" search:"3s" doc:"Length of the load before the measured part."`
	Duration time.Duration `json:"duration" yaml:"duration" default:"20s" search:"60s" doc:"Length of the measured part of a trial; ramps, stages and requests have their own. With load.find the maximum traffic time of a search, 10s or more; with load.benchmark the time limit of a trial, and 10m by default."`
	Repeats  int           `json:"repeats" yaml:"repeats" default:"6" search:"1" doc:"Number of trials of each cell; fewer than 6 give no 95% interval of a median."`
	Interval time.Duration `json:"interval" yaml:"interval" default:"1s" search:"500ms" doc:"Length of a frame, 100ms to 10s; with load.find at most 2s, and whole CFS periods."`
	// Kept: a service stays up between the trials of its cell, which then follow one
	// another, so that growth from run to run is visible.
	Kept bool `json:"kept,omitempty" yaml:"restart" kind:"inverse" default:"true" doc:"Start the service again for each trial. false: it stays up between the trials of its cell, which then follow one another, so that growth from run to run is visible."`
	// Resize: a service stays up from one trial to the next if only its limits differ.
	// They are changed while it runs.
	Resize bool `json:"resize,omitempty" yaml:"resize" default:"false" doc:"true: a service stays up from one trial to the next where only its limits differ (CPU, burst, period, memory). The limits are changed while it runs, as by an in-place resize of a pod."`
	// Common is the second part of a run of searches; nil: there is none.
	Common *Common `json:"common_load,omitempty" yaml:"common_load" doc:"With load.find: a second part of the run, in which every cell is measured at one load, so that their latencies compare. It is left out if a cell has no breaking point."`
	// Whole: a load that changes is reported as one, ramps included. The question is
	// then what users saw, not what the service does at a level.
	Whole bool `json:"whole,omitempty"`
	// Vary is the last part of the warm-up, in which kinds of request are left out in turn. No
	// file sets it.
	Vary time.Duration `json:"vary,omitempty"`
	// SearchSpeed: a search counts each second as so many, so that its windows are so many
	// times shorter. No file sets it: see Hurry.
	SearchSpeed int `json:"search_speed,omitempty"`
}

// StaysUp reports whether a service can be older than its trial.
func (m Measure) StaysUp() bool { return m.Kept || m.Resize }

// Resizable reports whether a change of limits turns the running service of one
// cell into that of another. The number of replicas and the cpuset cannot be
// changed while a service runs.
func (c *Cell) Resizable(to *Cell) bool {
	return c.Limits.Replicas == to.Limits.Replicas && c.Limits.CPUSet == to.Limits.CPUSet && reflect.DeepEqual(c.Service, to.Service)
}

// Resizes reports whether there are cells between which limits can be changed.
func (e *Experiment) Resizes() bool {
	for i := range e.Cells {
		for j := range e.Cells[:i] {
			if a, b := &e.Cells[i], &e.Cells[j]; a.Limits != b.Limits && a.Resizable(b) {
				return true
			}
		}
	}
	return false
}

// Measured is the length of the measured part of the cell's trials, without warm-up
// and drain. It is 0 if a number of requests, a search or a benchmark ends it.
func (m Measure) Measured(c *Cell) time.Duration {
	switch {
	case c.Load.Requests > 0, c.Load.Find, c.Load.Benchmark:
		return 0
	case len(c.Load.Target().Stages) > 0:
		return c.Load.Target().Length()
	}
	return m.Duration
}

// Objective is what counts as good.
type Objective struct {
	Quantile     string        `json:"quantile,omitempty"` // "p50", "p90", "p95", "p99", "p999"; empty: none asked
	Latency      time.Duration `json:"latency,omitempty"`
	Availability float64       `json:"availability,omitempty"` // percent; 0: none asked
}

// String is the objective in words: "p99 <= 250ms, availability >= 99.9%".
func (o *Objective) String() string {
	var parts []string
	if o.Quantile != "" {
		parts = append(parts, fmt.Sprintf("%s <= %s", o.Quantile, span.Text(o.Latency)))
	}
	if o.Availability > 0 {
		parts = append(parts, fmt.Sprintf("availability >= %v%%", o.Availability))
	}
	return strings.Join(parts, ", ")
}
