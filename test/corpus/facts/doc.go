// Package facts checks the summaries of simulated records. It has tests only: each value
// is computed again from the files of the record, by code and statistics of its own, and
// compared with what is known by construction (package corpus). Of the sentences it checks
// that their numbers are figures of the cells that they name. Their words are compared by
// package narrative.
package facts
