// Package supervise keeps the replicas of a unit alive on any platform, and checks
// whether they serve: readiness probes, the waits before a restart, logs, and
// counters that continue over restarts. The platform starts a replica, detects
// its end and decides when to restart it. The package has no control groups and
// no containers.
package supervise

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/platform"
)

// ReadyTimeout applies where a unit states none.
const ReadyTimeout = 30 * time.Second

// SettleTime is how long a replica must run after its first successful probe. A
// process that moves itself into the background serves shortly before its first
// process ends.
const SettleTime = 50 * time.Millisecond

// RestartAfter is the default wait before the first restart of a replica. (A
// kubelet begins at 10 s and ends at 5 min.)
const RestartAfter = time.Second

// ErrDied reports that a replica ended before it was ready.
var ErrDied = errors.New("it ended before it was ready")

// Backoff computes the waits before restarts: First, doubled after every end up
// to ten times First. After an instance that ran longer it begins at First again.
type Backoff struct {
	First time.Duration
	now   time.Duration
}

// Next returns the wait after an instance that ran for so long.
func (b *Backoff) Next(ran time.Duration) time.Duration {
	longest := 10 * b.First
	if b.now == 0 || ran > longest {
		b.now = b.First
	}
	wait := b.now
	b.now = min(2*b.now, longest)
	return wait
}

// Sleep waits for d. It returns false if ctx ended first.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// StaysUp waits for SettleTime and returns ErrDied if ended was closed by then.
func StaysUp(ended <-chan struct{}) error {
	select {
	case <-ended:
		return ErrDied
	case <-time.After(SettleTime):
		return nil
	}
}

// LeaderFirst moves the process that was started first to the head of all. A
// leader that has ended is not in all, and changes nothing.
func LeaderFirst(all []int, leader int) []int {
	if i := slices.Index(all, leader); i > 0 {
		all = slices.Insert(slices.Delete(all, i, i+1), 0, leader)
	}
	return all
}

// Replicas converts the replicas of one platform to the common interface.
func Replicas[R platform.Replica](own []R) []platform.Replica {
	all := make([]platform.Replica, len(own))
	for i, r := range own {
		all[i] = r
	}
	return all
}
