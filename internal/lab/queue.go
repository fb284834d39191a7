package lab

import (
	"slices"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
)

// Limits on repetition.
const (
	// maxAttempts bounds the attempts of one planned trial that is disturbed. The
	// repeats of all trials together are at most a third of the plan: on a machine that
	// is always busy the results get flags, and the run ends.
	maxAttempts = 2
	// maxFailures is the number of failures in a row after which a cell is given up.
	maxFailures = 2
	// maxEvictions is how many trials of a cell are repeated after an eviction.
	maxEvictions = 3
)

// attempt is a planned trial and the number of its earlier attempts.
type attempt struct {
	experiment.Trial
	attempt int
}

// queue is what remains to be done: the plan, and between its trials the repeats.
type queue struct {
	waiting  []attempt
	budget   int         // repeats that are left
	evicted  map[int]int // by cell: trials that an eviction ended
	failures map[int]int // by cell, in a row
	done     int         // completed trials
	invalid  int         // trials whose limits did not hold
}

func newQueue(plan []experiment.Trial, cells int) *queue {
	q := &queue{budget: (len(plan) + 2) / 3, failures: make(map[int]int, cells), evicted: make(map[int]int, cells)}
	for _, t := range plan {
		q.waiting = append(q.waiting, attempt{Trial: t})
	}
	return q
}

// next removes the next attempt from the queue.
func (q *queue) next() (attempt, bool) {
	for len(q.waiting) > 0 {
		a := q.waiting[0]
		q.waiting = q.waiting[1:]
		if q.failures[a.Cell] < maxFailures {
			return a, true
		}
	}
	return attempt{}, false
}

// later puts a repeat into the middle of what remains, and the next ones behind it with a
// trial of the plan between them: those who disturb may have left by then, and repeats one
// after another would meet the same neighbour.
func (q *queue) later(a attempt) {
	at := (len(q.waiting) + 1) / 2
	for i, waiting := range q.waiting {
		if waiting.attempt > 0 {
			at = min(i+2, len(q.waiting))
		}
	}
	q.waiting = slices.Insert(q.waiting, at, a)
}

// repeats reports whether an attempt is repeated if it is disturbed.
func (q *queue) repeats(a attempt) bool { return a.attempt+1 < maxAttempts && q.budget > 0 }

// decision is what follows from the outcome of an attempt.
type decision string

const (
	goOn       decision = "" // nothing special
	repeat     decision = "it will be repeated"
	keepNoisy  decision = "disturbed; kept, because the retry limit is reached"
	giveUpCell decision = "it failed again; the cell's other trials are skipped"
	giveUp     decision = "evicted too often; it is not repeated"
)

// settle records the outcome of an attempt and decides what follows.
func (q *queue) settle(a attempt, outcome record.Outcome) decision {
	if outcome == record.Invalid {
		q.invalid++
	}
	switch outcome {
	case record.Failed, record.Invalid:
		q.failures[a.Cell]++
		if q.failures[a.Cell] == maxFailures {
			return giveUpCell
		}
	case record.Disturbed:
		q.done++
		q.failures[a.Cell] = 0
		if q.repeats(a) {
			q.budget--
			a.attempt++
			q.later(a)
			return repeat
		}
		return keepNoisy
	case record.Done:
		q.done++
		q.failures[a.Cell] = 0
	case record.Interrupted: // by an eviction: the run continues
		q.evicted[a.Cell]++
		if q.evicted[a.Cell] > maxEvictions {
			return giveUp
		}
		q.waiting = append(q.waiting, a)
		return repeat
	}
	return goOn
}

// resume removes from the queue what a former run has done, with the same decisions,
// and returns the number of the next trial. An interrupted trial keeps its place.
func (q *queue) resume(trials []record.Trial) (next int) {
	next = 1
	for _, t := range trials {
		next = max(next, t.Trial+1)
		at := slices.IndexFunc(q.waiting, func(a attempt) bool {
			return a.Cell == t.Cell && a.Repeat == t.Repeat && a.attempt == t.Attempt
		})
		if at < 0 || t.Outcome == record.Interrupted || t.Outcome == record.Started {
			continue
		}
		a := q.waiting[at]
		q.waiting = slices.Delete(q.waiting, at, at+1)
		q.settle(a, t.Outcome)
	}
	return next
}
