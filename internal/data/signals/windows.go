package signals

import (
	"math"
	"time"
)

// Rebuilder rebuilds the windows of one replica from its samples, which must come in
// the order of time.
//
// The kernel adds a stretch of throttling to its figures only when the stretch is
// over, which is at the end of a period of the limit (kernel/sched/fair.c,
// sched_cfs_period_timer and unthrottle_cfs_rq). So a sample with more throttled time
// shows that a window ended between it and the sample before, and how long the window
// was. The period shows where between the two samples it ended: the ends of periods lie
// on a grid, and every end that is observed narrows it down.
//
// The throttle windows of a replica never overlap, nor do its down windows. But it may
// have died while it was throttled.
type Rebuilder struct {
	quota, period int64 // nanoseconds; quota 0: no limit, so no throttle windows
	cpus          int64

	last  totals // of the last sample with figures
	known bool
	grid  grid
	ended int64 // end of the last throttle window

	crossed     int64 // throttled periods whose time is missing in the kernel's figures so far
	crossedFrom int64 // the sample before the first of them

	down int64 // since when the replica is down; 0: it is up
}

// totals are a sample's figures.
type totals struct {
	at                          int64
	periods, throttled, blocked int64 // periods, throttled periods, and throttled time
}

// DefaultPeriod is the kernel's default period of CFS bandwidth control (Linux
// Documentation/scheduler/sched-bwc.rst).
const DefaultPeriod = 100 * time.Millisecond

// NewRebuilder returns the rebuilder of a replica that may use quota of CPU time in
// each period (0: the kernel's default of 100 ms), on a machine with that many CPUs. A
// quota of 0 means no limit.
func NewRebuilder(quota, period time.Duration, cpus int) *Rebuilder {
	if period <= 0 {
		period = DefaultPeriod
	}
	return &Rebuilder{quota: int64(quota), period: int64(period), cpus: int64(max(cpus, 1)), grid: grid{period: int64(period)}}
}

// Add takes the next sample and passes the windows that ended before it to out, ordered
// by their ends. Kind, Start, End, Throttled and CPUs are set.
func (r *Rebuilder) Add(p ThrottleSample, out func(Window)) {
	at := p.At.UnixNano()
	switch {
	case !p.Up && r.down == 0:
		r.down = at
	case p.Up:
		r.Flush(p.At, out)
	}
	if p.Throttled == nil || r.quota <= 0 || r.known && at <= r.last.at {
		return
	}
	now := totals{at: at, periods: orZero(p.Periods), throttled: orZero(p.ThrottledPeriods), blocked: int64(*p.Throttled)}
	if r.known {
		r.step(r.last, now, out)
	} else {
		r.known, r.ended = true, at-r.period
	}
	r.last = now
}

// Flush ends a down window at the end of a trial.
func (r *Rebuilder) Flush(at time.Time, out func(Window)) {
	if r.down != 0 && at.UnixNano() > r.down {
		out(Window{Kind: Down, Start: r.down, End: at.UnixNano()})
	}
	r.down = 0
}

// step processes what happened between two samples.
func (r *Rebuilder) step(before, now totals, out func(Window)) {
	if n := grown(before.periods, now.periods); n > 0 {
		r.grid.passed(before.at+(n-1)*r.period, now.at)
	}
	throttled, blocked := grown(before.throttled, now.throttled), grown(before.blocked, now.blocked)
	if blocked == 0 {
		if throttled > 0 && r.crossed == 0 {
			r.crossedFrom = before.at
		}
		r.crossed += throttled
		return
	}
	end := now.at - (now.at-before.at)/2
	switch {
	case throttled > 0:
		end = r.grid.last(before.at, now.at)
	case r.crossed > 0:
		// An earlier sample was read between the kernel's updates of the two figures.
		end = r.grid.last(r.crossedFrom, now.at)
	}
	// At most as many windows as there is room for: windows must not overlap, even if
	// counters jump.
	room := (end - r.ended + r.period - 1) / r.period
	n := min(max(throttled+r.crossed, 1), room)
	r.divide(end, n, blocked, r.crossed > 0, out)
	r.crossed = 0
}

// divide returns the windows of n periods, of which the last ended at end. If several
// periods passed between two samples, all windows have the same length. After a small
// quota was overrun by more than itself, throttling continues across the ends of
// periods. Then all periods but the first were throttled completely.
func (r *Rebuilder) divide(end, n, blocked int64, unbroken bool, out func(Window)) {
	share := blocked / n
	cpus := r.ran(share)
	if unbroken && blocked > (n-1)*cpus*r.period {
		share = cpus * r.period
	}
	first := blocked - (n-1)*share
	r.give(end-(n-1)*r.period, first, cpus, out)
	for i := n - 2; i >= 0; i-- {
		r.give(end-i*r.period, share, cpus, out)
	}
}

// give passes one window to out, as long as there is room for, at most a period.
func (r *Rebuilder) give(end, blocked, cpus int64, out func(Window)) {
	start := max(end-min(blocked/cpus, r.period), r.ended)
	r.ended = end
	out(Window{Kind: Throttled, Start: start, End: end, Throttled: blocked, CPUs: int(cpus)})
}

// slack is the part of a period by which CPU time may differ before it counts as
// another CPU's. A CPU overruns its quota by up to a tick (4 ms at 250 Hz), and uses
// more or less in the next period.
const slack = 0.1

// ran estimates how many CPUs the replica ran on, from its throttled time in a period.
// A CPU that is busy for the whole period is either running or throttled, and can run
// for the quota: blocked + quota = CPUs x period. If the CPUs were not busy all the
// time, the result is the lowest possible number, and the window is too long.
func (r *Rebuilder) ran(blocked int64) int64 {
	busy := float64(blocked+r.quota) / float64(r.period)
	return min(max(int64(math.Ceil(busy-slack)), 1), r.cpus)
}

// grown is the increase of a counter. One that decreased counts from zero, as in
// Between.
func grown(before, after int64) int64 {
	if after < before {
		return max(after, 0)
	}
	return after - before
}

func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// grid is where the ends of periods lie. The kernel's timer keeps to it as long as it
// runs, and usually also when it starts again after the group was idle
// (start_cfs_bandwidth forwards it by whole periods). The grid is known as the latest
// stretch of time that contained one end.
type grid struct {
	period    int64
	low, high int64 // the end lies after low, and not after high
	known     bool
}

// passed records that a period ended between two times. If that agrees with the grid,
// it narrows the grid. Otherwise it replaces the grid: the timer was restarted.
func (g *grid) passed(low, high int64) {
	if high <= low || high-low > g.period/2 {
		return // more periods than time, or the samples are too far apart
	}
	if g.known {
		shift := int64(math.Round(float64((low+high)-(g.low+g.high))/2/float64(g.period))) * g.period
		l, h := max(low, g.low+shift), min(high, g.high+shift)
		if l < h {
			g.low, g.high = l, h
			return
		}
	}
	g.low, g.high, g.known = low, high, true
}

// last is the last end of a period between two times, or their middle if the grid has
// none there.
func (g *grid) last(after, until int64) int64 {
	if g.known {
		end := g.low + (g.high-g.low+1)/2
		end += floorDiv(until-end, g.period) * g.period
		if end > after {
			return end
		}
	}
	return until - (until-after)/2
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
