package search

import (
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/finding"
)

// fullWindow is a window whose load was above the capacity: what was answered is the capacity.
type fullWindow struct {
	at, load, rate float64 // s since the search began; due and answered a second
}

// fullWindows show whether the capacity changed, by more than the shares of late requests do:
// of a service with a leak, 800 requests/s at first and 340 a minute later are all late.
type fullWindows []fullWindow

const (
	// surelyFull is the share of the load below which the answers fell behind it. A service
	// that pauses answers all, later.
	surelyFull = 0.9
	// fewFull is the number of windows from which they show a trend, and trended the standard
	// deviations of Mann and Kendall's statistic from which it is none of chance: with five
	// windows each must be lower than the one before.
	fewFull, trended = 5, 2.2
	// grown is the least ratio of the rates of the first and the last third.
	grown = 1.25
	// fewBad is the share of failed requests up to which what was answered is the capacity.
	fewBad = 0.01
)

// fills adds a window if its load was above the capacity.
func (s *Search) fills(w window) {
	seconds := (float64(w.blocks) * s.config.Block.Seconds())
	if s.config.Whole || w.beside || !w.missed || !w.backlog || w.bad > fewBad*w.n || seconds == 0 {
		return
	}
	if rate := (w.n - w.bad - w.overdue) / seconds; rate > 0 && rate < surelyFull*s.step.Load {
		s.full = append(s.full, fullWindow{s.elapsed - seconds/2, s.step.Load, rate})
	}
}

// trend returns that the capacity rose or fell over the time, by Mann and Kendall's test
// (Kendall, Rank Correlation Methods, 1948); none: it did not, or the load explains it. A
// service that answers less the more it is asked rises while a search comes down.
func (all fullWindows) trend(seconds float64) finding.Finding {
	n := float64(len(all))
	if len(all) < fewFull {
		return finding.Finding{}
	}
	byTime, byLoad := 0.0, 0.0
	for i, a := range all {
		for _, b := range all[i+1:] {
			byTime += sign(b.rate - a.rate)
			byLoad += sign(b.rate-a.rate) * sign(b.load-a.load)
		}
	}
	if (math.Abs(byTime)-1)/math.Sqrt(n*(n-1)*(2*n+5)/18) < trended || byLoad < 0 {
		return finding.Finding{}
	}
	third := len(all) / 3
	from, to := all[:third].median(), all[len(all)-third:].median()
	found := finding.Finding{Kind: finding.CapacityRose, Load: from, Other: to, Seconds: seconds}
	if byTime < 0 {
		found.Kind = finding.CapacityFell
	}
	if max(from/to, to/from) < grown || (to < from) != (byTime < 0) {
		return finding.Finding{}
	}
	return found
}

// median is that of the rates, the lower of two middle ones.
func (all fullWindows) median() float64 {
	rates := make([]float64, len(all))
	for i, w := range all {
		rates[i] = w.rate
	}
	slices.Sort(rates)
	return rates[(len(rates)-1)/2]
}

func sign(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}
