// Package counters finds what makes a service slow without using up its CPU limit, by counters of
// its own: its accept queue, its memory limit, or answers in several parts.
package counters

import (
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/signals"
)

const (
	// firstRetry is when a client sends again on a connection that the service did not take:
	// data after 200 ms, and its attempt to connect after 1 s (Linux TCP_RTO_MIN,
	// TCP_TIMEOUT_INIT).
	firstRetry = 200 * time.Millisecond
	// fewDrops is so few dropped attempts to connect that they may be chance.
	fewDrops = 3
	// ofDrops is the number of late requests for each dropped attempt from which others
	// are late for other reasons. Some were dropped before the window.
	ofDrops = 2
	// fewestDelayed is so few late last parts of answers that they may be chance, and fewApart
	// the share of those with another gap from which the gaps may be of any length.
	fewestDelayed, fewApart = 10, 0.25
	// memoryFull is the share of the memory limit from which the kernel evicts pages for it.
	memoryFull = 0.98
	// stalledMuch is the share of the time that waits for memory, or of the CPU time that
	// evicts and reads pages, from which they limit.
	stalledMuch = 0.2
	// fewestRefaults is how many pages a request must read again for the waits to be for them.
	fewestRefaults = 0.1
	// refaultCost is the CPU time that evicts a page and reads it again from a fast disk. A
	// server that read 38 and 740 pages a request again used 21 and 27 us more for each than
	// with a memory limit that held the file (Linux 6.18, 4 KiB).
	refaultCost = 20 * time.Microsecond
)

// Cause returns what the counters show, and as a value of limited_by; none if they show nothing.
// Throttled is whether the CPU limit stops the service now and then, which parts answers, too.
func Cause(g objective.Goal, t *sums.Total, throttled bool) (by string, shown finding.Finding) {
	if shown := acceptQueue(g, t); !shown.None() {
		return summary.ByAcceptQueue, shown
	}
	if shown := memoryStall(t); !shown.None() {
		return summary.ByMemory, shown
	}
	if shown := DelayedAck(g, t, throttled); !shown.None() {
		return summary.ByDelayedAck, shown
	}
	return "", finding.Finding{}
}

// acceptQueue returns that the kernel drops attempts to connect because the queue of those
// that wait for the service is full. The counter is that of the service's own sockets, so
// the drops are certain. They cause the slow tail if about as many requests were as late
// as a retry is. A service that is too slow drops connections, too: there the queue is long
// enough to miss the objective by itself, or most requests wait long, and a longer queue
// changes nothing.
func acceptQueue(g objective.Goal, t *sums.Total) finding.Finding {
	s, k := &t.Server, &t.Client
	drops, n := sums.Value(s.ListenDrops), float64(k.Latency.Count())
	late := k.Latency.Above(firstRetry) + k.Stuck // they still wait
	patience := time.Second
	if g.HasLatency() {
		patience = g.Objective.Latency
	}
	rate := k.Rate()
	slow := float64(late) >= g.Late()*n || k.Stuck > 0 && float64(k.Stuck) >= g.Late()*float64(sums.Value(k.OpenConnections()))
	switch {
	case drops < fewDrops || rate == nil || !slow || late > ofDrops*drops:
		return finding.Finding{}
	case s.Backlogs() >= *rate*patience.Seconds() || k.Latency.Quantile(0.5) > patience/2:
		return finding.Finding{}
	}
	return finding.Finding{Kind: finding.AcceptQueueFull, N: int(drops), Of: int(sums.Value(s.Backlog))}
}

// memoryStall returns that the service reads pages again that its memory limit evicted. A
// kernel with PSI says for how long something waited for them. PSI has the waits for the
// disk alone: with a fast one the eviction takes the time, as CPU time of the service.
func memoryStall(t *sums.Total) finding.Finding {
	s := &t.Server
	full := sums.Over(asFloat(s.MemoryPeak), asFloat(s.MemoryLimit))
	n := float64(t.Client.Latency.Count())
	if full == nil || *full < memoryFull || sums.Value(s.Refaults) == 0 || n == 0 {
		return finding.Finding{}
	}
	each := float64(*s.Refaults) / n
	if stalled := s.MemoryStalled(); stalled != nil && *stalled >= stalledMuch && each >= fewestRefaults {
		return finding.Finding{Kind: finding.MemoryStalled, Value: each, Share: *stalled}
	}
	if cpu := s.CPUSeconds(); each < 1 || cpu == nil || float64(*s.Refaults)*refaultCost.Seconds() < stalledMuch**cpu {
		return finding.Finding{}
	}
	return finding.Finding{Kind: finding.MemoryRefaults, Value: each}
}

// DelayedAck returns that the last part of the slow answers waits until the client
// acknowledges the part before: the service wrote the answer in parts, and its kernel holds a
// small part back while another is on its way (Nagle's algorithm, RFC 1122, 4.2.3.4), which
// the client acknowledges after 40 ms. It requires that most answers that took as long have
// that gap, and few have another one: what stops or slows a service makes gaps of any length.
// A service that sleeps for as long between two parts looks the same.
func DelayedAck(g objective.Goal, t *sums.Total, throttled bool) finding.Finding {
	k := &t.Client
	delayed, took := float64(k.AckDelayed), float64(k.Service.Above(signals.AckDelayed))
	switch {
	case delayed < fewestDelayed || delayed < g.Late()*float64(k.Latency.Count()) || delayed < took/2:
		return finding.Finding{}
	case float64(k.Apart) > fewApart*delayed, throttled:
		return finding.Finding{}
	}
	return finding.Finding{Kind: finding.AcksDelayed, N: int(k.AckDelayed), Share: min(1, delayed/took)}
}

func asFloat(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}
