//go:build race

package search

// usualRuns of each simulated service; the race detector makes them ten times
// slower.
const usualRuns = 6
