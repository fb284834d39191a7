// Package exit has the exit codes of Millicore's programs, which scripts and CI read.
// The state of a run in a cluster holds the same codes. It ends no program.
package exit

import "syscall"

// The exit codes.
const (
	OK     = 0
	Failed = 1  // the tool could not do its work
	Usage  = 2  // wrong usage, or a wrong experiment
	Missed = 99 // the objective was missed, as k6 says it

	// Undecided: too close to tell whether the objective was met, or not determined.
	Undecided = 98

	// Interrupted is ended by Ctrl-C, and Terminated by TERM, as a shell says it.
	// The record of an interrupted run is kept.
	Interrupted = signalled + int(syscall.SIGINT)
	Terminated  = signalled + int(syscall.SIGTERM)

	signalled = 128 // and the signal
)

// NotMet is the error of a complete run that does not show that its objective was met. It is
// the exit code: Missed or Undecided.
type NotMet int

func (NotMet) Error() string { return "objective not met" }
