//go:build !race

package search

// usualRuns of each simulated service.
const usualRuns = 100
