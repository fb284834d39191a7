// Package disturbance decides whether something other than the service influenced a
// measurement: other processes, the hypervisor, or the agent itself. The same
// thresholds apply to a whole trial, to a window of a search, and to one frame.
//
// Noise sums the frames of any of these, and answers by the thresholds. The package
// does not decide what follows from an answer: package lab repeats a trial, and
// package analysis leaves out a window or sets a flag.
package disturbance
