// Package chaos is a campaign of faults: it starts short runs of the built programs, does
// something to one part of each at a moment drawn from a seed, and checks what is left.
// After each fault the record must be readable up to the last complete interval,
// `millicore clean` must leave nothing, and the next run must work.
//
// The plan of an attempt is a pure function of its seed (plan.go), and so are the count of
// lost intervals (intervals.go) and the table (table.go). A Platform finds the parts of a
// run, and what a run left.
package chaos
