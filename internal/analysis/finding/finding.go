// Package finding has what the packages of analysis find, as values: a constant, and its
// figures. It has no words: package wording words each, at one place. The values are not
// part of any file. summary.json has their words.
package finding

import (
	"time"
)

// Finding is a constant and its figures. Which figures a kind has, its comment states.
type Finding struct {
	Kind Kind

	Load, Other float64 // requests/s, or users
	Users       bool    // whether these are users
	AtLeast     bool    // whether Load is a lower bound
	Failed      bool    // whether requests failed as well
	Value       float64 // of a metric, in the unit of Text
	Share       float64 // 0..1
	Allowed     float64 // 0..1: the share that the objective allows
	Requests    float64
	Again       float64 // requests of a second attempt
	Seconds     float64
	Time        time.Duration // as it was configured
	N, Of       int

	Who     Source
	By      string // what was the limit, as in limited_by
	Gap     string // why two cells were not tested: a summary.Gap
	Text    string // of the record: a name, a unit, or what an agent or a platform reported
	Names   []string
	Loads   []float64
	Use     Use
	Host    Host
	Counts  []Count
	Because []Finding
}

// None reports whether nothing was found.
func (f Finding) None() bool { return f.Kind == None }

// Use is how much CPU a service or a dependency used, and how often its CPU limit
// throttled it. nil: not known.
type Use struct {
	Cores     *float64
	OfLimit   *float64 // 0..1
	Throttled *float64 // 0..1, of the periods
	PerPeriod *float64 // seconds per throttled period, summed over CPUs
}

// Host is how much of a machine's CPUs was used.
type Host struct {
	Busy, Idle float64 // CPUs
	CPUs       int
	Name       string // "": there is one machine
}

// Count is a number of requests that failed, and the name of a summary.Failure.
type Count struct {
	N    int64
	Name string
}
