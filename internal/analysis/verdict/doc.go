// Package verdict judges what a summary shows: which cells differ, which is the best,
// whether a difference keeps a bound, whether a published claim holds, and what of a
// figure is not the service's own. It reads the types of package summary only, so that
// an older record and a newer one are judged alike. It does not read frames, and it
// computes no figure of a single trial.
package verdict
