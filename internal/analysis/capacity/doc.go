// Package capacity finds where a service breaks, and what limits it there: in the windows
// of a search, and at the levels of a load that rises in steps. It also knows where the
// latency leaves its floor, and how a service recovers from an overload. Its breaking
// points have what made them a bound, or withheld their limit.
//
// It does not choose the next load of a search (package search does), and it does not
// compare breaking points (package verdict does).
package capacity
