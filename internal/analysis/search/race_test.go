//go:build race

package search

// usualRuns is the number of runs of each simulated service; the race detector makes
// them ten times slower.
const usualRuns = 6
