package main

import (
	"math"
	"time"

	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/test/corpus"
)

// truth asks a service itself, by long runs of the same simulation without a record.
type truth struct {
	behaviour corpus.Behaviour
	cell      *experiment.Cell
	goal      objective.Goal
	seed      uint64
}

const (
	batchRequests = 3000
	mostBatches   = 20
)

// meets reports whether the service meets its objective at a load in the long run. It runs
// until the mean of the batches is four standard errors from the objective, or 20 batches.
func (t truth) meets(load float64) bool {
	s := corpus.NewSteady(t.behaviour, t.cell, load, t.seed, 1)
	each := time.Duration(batchRequests / load * float64(time.Second))
	if every := t.behaviour.Service.Every; every > 0 {
		each = (each + every - 1) / every * every
	}
	s.For(max(5*time.Second, each/4))
	allowed := t.goal.Allowed()
	var late, bad moments
	for range mostBatches {
		h, timeouts, failed := s.For(each)
		n := float64(h.Count() + failed)
		if n == 0 {
			return false
		}
		late.add(float64(h.Above(t.goal.Objective.Latency)+failed) / n)
		bad.add(float64(timeouts+failed) / n)
		missed := late.above(allowed.AllowedLate) || bad.above(allowed.AllowedBad)
		if missed {
			return false
		}
		if late.below(allowed.AllowedLate) && bad.below(allowed.AllowedBad) {
			return true
		}
	}
	return late.mean() <= orAny(allowed.AllowedLate) && bad.mean() <= orAny(allowed.AllowedBad)
}

func orAny(allowed float64) float64 {
	if allowed < 0 {
		return 1
	}
	return allowed
}

// bracket are two loads 2% apart: a service meets its objective at the lower one, and misses
// it at the upper one. From 0: it misses at every load down to a twentieth of what it can
// do; To 0: it meets it up to ten times of that.
type bracket struct{ From, To float64 }

// missesAt reports whether the service certainly misses its objective at a load.
func (b bracket) missesAt(load float64) bool { return b.To > 0 && load > b.To }

// meetsAt reports whether the service certainly meets its objective at a load.
func (b bracket) meetsAt(load float64) bool { return load < b.From }

// breaks finds the bracket, beginning at a guess.
func (t truth) breaks(guess float64) bracket {
	met, missed := guess, guess
	if t.meets(guess) {
		for missed *= 1.2; t.meets(missed); missed *= 1.2 {
			if met = missed; met > 10*guess {
				return bracket{From: met}
			}
		}
	} else {
		for met /= 1.2; !t.meets(met); met /= 1.4 {
			if missed = met; met < guess/20 {
				return bracket{To: missed}
			}
		}
	}
	for missed > 1.02*met {
		if between := math.Sqrt(met * missed); t.meets(between) {
			met = between
		} else {
			missed = between
		}
	}
	return bracket{met, missed}
}

// tailOf is the mean of the slowest share 1-q of the latencies, and the quantile, in ms.
func tailOf(h *signals.Histogram, q float64) (mean, from float64) {
	before := q * float64(h.Count())
	var seen, n, sum float64
	for bar := range h.Bars() {
		seen += float64(bar.Count)
		if in := min(float64(bar.Count), seen-before); in > 0 {
			n += in
			sum += in * float64(bar.From) / 1000
		}
	}
	return sum / max(n, 1), float64(h.Quantile(q)) / float64(time.Millisecond)
}

// moments are those of the shares of batches.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(v float64) { m.n, m.sum, m.squares = m.n+1, m.sum+v, m.squares+v*v }

func (m *moments) mean() float64 { return m.sum / m.n }

// from is how many standard errors the mean is above a share; 0 while too few are known.
func (m *moments) from(allowed float64) float64 {
	if m.n < 4 {
		if m.n > 0 && m.mean() > 10*allowed+0.05 {
			return math.Inf(1)
		}
		return 0
	}
	sd := math.Sqrt(max(0, m.squares/m.n-m.mean()*m.mean()) * m.n / (m.n - 1))
	// Batches without any late request still leave one in all of them possible.
	return (m.mean() - allowed) / (sd/math.Sqrt(m.n) + 0.25/(m.n*batchRequests))
}

func (m *moments) above(allowed float64) bool { return allowed >= 0 && m.from(allowed) > 4 }
func (m *moments) below(allowed float64) bool { return allowed < 0 || m.from(allowed) < -4 }

// relieved are the service and its machine with more of one thing; the keys are what was
// given more of.
func relieved(b corpus.Behaviour, limited bool) map[string]corpus.Behaviour {
	all := map[string]corpus.Behaviour{}
	if limited && !b.Unlimited {
		c := b
		c.Unlimited = true
		all["limit"] = c
	}
	more := b
	more.Service.Workers *= 2
	all["workers"] = more
	if limited && !b.Unlimited {
		more.Unlimited = true
		all["limit and workers"] = more
	}
	if b.Service.Lock > 0 {
		c := b
		c.Service.Lock /= 2
		all["lock"] = c
	}
	if b.Service.Call != nil {
		c := b
		c.Service.Call = halved(b.Service.Call)
		all["call"] = c
	}
	host := b
	host.CPUs = 4 * max(b.CPUs, 4)
	all["host"] = host
	if !limited || b.Unlimited {
		host.Service.Workers *= 2
		all["host and workers"] = host
	}
	if b.Service.Fails != nil || b.Service.Sheds > 0 || b.Service.Backlog > 0 {
		c := b
		c.Service.Fails, c.Service.Sheds, c.Service.Backlog = nil, 0, 0
		all["errors"] = c
	}
	return all
}
