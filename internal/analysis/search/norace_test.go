//go:build !race

package search

// usualRuns is the number of runs of each simulated service.
const usualRuns = 100
