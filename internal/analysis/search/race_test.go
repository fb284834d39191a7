//go:build race

package search

// The numbers of searches of each simulated service: the race detector makes them ten
// times slower.
const fewRuns, usualRuns, fullRuns = 4, 6, 6
