//go:build !race

package search

// The numbers of searches of each simulated service, in short mode, usually and in a
// campaign.
const fewRuns, usualRuns, fullRuns = 8, 30, 1000
