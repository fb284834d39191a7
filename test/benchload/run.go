package main

import (
	"time"

	"github.com/millicore/millicore/test/freeze"
)

// Cases other than those of the freeze.
const (
	closedLoop = "closed loop"
	manyIdle   = "memory"
	asFast     = "as fast as one thread can"
)

// rates are those of the open loop.
var rates = []int{2000, 10_000}

// run is one run of one tool: its load, its report, and what was measured.
type run struct {
	Case    string `json:"case"`
	Round   int    `json:"round"`
	Tool    string `json:"tool"`
	Load    load   `json:"load"`
	Failure string `json:"failure,omitempty"` // why there is nothing more
	report
	used
	Steal   float64 `json:"steal_cores"`   // what the hypervisor took
	Foreign float64 `json:"foreign_cores"` // what others used: neither the tool, its target nor this program
	Freeze  *frozen `json:"freeze,omitempty"`
}

// used is the CPU time and memory of a process and its children.
type used struct {
	CPU  time.Duration `json:"cpu_ns"`
	Took time.Duration `json:"took_ns"`
	// Peak is the sum of the peak memory of each process.
	Peak int64 `json:"peak_rss_bytes"`
	// The memory of all of them a second after the start, half way, and a second before
	// the end.
	First  int64 `json:"first_rss_bytes"`
	Middle int64 `json:"middle_rss_bytes"`
	Last   int64 `json:"last_rss_bytes"`
}

// frozen are the true latencies of a run on a service that freezes.
type frozen struct {
	P50, P95, P99 time.Duration
	Late          freeze.Lateness // of the service
}

// perRequest is the CPU time per good answer in microseconds.
func perRequest(r *run) float64 { return float64(r.CPU.Nanoseconds()) / 1000 / float64(r.Good) }

// rate is good answers per second of the requested time.
func rate(r *run) float64 { return float64(r.Good-r.Drained) / float64(r.Load.Seconds) }

// achieved is the share of the schedule with good answers.
func achieved(r *run) float64 { return rate(r) / float64(r.Load.Rate) }

func megabytes(bytes int64) float64        { return float64(bytes) / (1 << 20) }
func micros(d time.Duration) float64       { return float64(d.Nanoseconds()) / 1e3 }
func millis(d time.Duration) float64       { return float64(d.Nanoseconds()) / 1e6 }
func peakMemory(r *run) float64            { return megabytes(r.Peak) }
func cores(r *run) float64                 { return share(r.CPU, r.Took) }
func disturbed(r *run, b bounds) bool      { return r.Steal > b.Steal || r.Foreign > b.Foreign }
func oneCore(r *run) float64               { return 1e6 / perRequest(r) }
func usable(r *run) bool                   { return r.Failure == "" && r.Good > 0 }
func share(part, of time.Duration) float64 { return float64(part) / float64(of) }

// bounds are the thresholds, in cores, from which a run is marked as disturbed.
type bounds struct{ Steal, Foreign float64 }

// freezeCase is a service that freezes, with its load.
type freezeCase struct {
	Name        string
	Service     freeze.Service
	Rate        int
	Connections int
	Periods     int
}

func (c *freezeCase) seconds() int { return int(c.Service.Period.Seconds()) * c.Periods }

// from is the start of the service's clock. It is chosen so that each freeze is over,
// and the requests that it delayed are answered, long before the run ends.
func (c *freezeCase) from() time.Duration { return c.Service.Period / 2 }

// truth are the latencies that a tool must report.
func (c *freezeCase) truth() frozen {
	all := c.Service.Truth(c.from(), float64(c.Rate), time.Duration(c.seconds())*time.Second, c.Connections)
	return frozen{P50: freeze.Rank(all, 0.5), P95: freeze.Rank(all, 0.95), P99: freeze.Rank(all, 0.99)}
}

// freezes are the cases: the first, whose truth is well known, is for all tools; the
// others have other rates, lengths and numbers of connections.
var freezes = []freezeCase{
	{"1,000/s, 64 connections, 1 s in every 10", freeze.Service{Work: time.Millisecond, Period: 10 * time.Second, Still: time.Second}, 1000, 64, 1},
	{"500/s, 256 connections, 2 s in every 8", freeze.Service{Work: time.Millisecond, Period: 8 * time.Second, Still: 2 * time.Second}, 500, 256, 1},
	{"4,000/s, 32 connections, 0.4 s in every 4", freeze.Service{Work: time.Millisecond, Period: 4 * time.Second, Still: 400 * time.Millisecond}, 4000, 32, 2},
	{"1,000/s, 16 connections, 100 ms in every 1", freeze.Service{Work: time.Millisecond, Period: time.Second, Still: 100 * time.Millisecond}, 1000, 16, 8},
}
