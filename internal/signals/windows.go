package signals

import (
	"math"
	"time"
)

// Rebuilder rebuilds the windows of one replica from its pulses, which are to
// come in the order of their times.
//
// The kernel adds a stretch of throttling to its figures only when the stretch
// is over, which is at the end of a period of the limit (kernel/sched/fair.c,
// sched_cfs_period_timer and unthrottle_cfs_rq). So a pulse in which the
// throttled time has grown tells the end of a window, between it and the pulse
// before, and its length after the fact. Where between the two, the period
// tells: its ends lie on a grid, which every end that was seen narrows down.
//
// Throttled windows of a replica never overlap, nor do those in which it was
// down; but it may have died while it was throttled.
type Rebuilder struct {
	quota, period int64 // nanoseconds; quota 0: no limit, so no throttled windows
	cpus          int64

	last  totals // of the last pulse that had figures
	known bool
	grid  grid
	ended int64 // end of the last throttled window

	crossed     int64 // ends of periods that were passed throttled, whose time the kernel has not told yet
	crossedFrom int64 // the pulse before the first of them

	down int64 // since when the replica is down; 0: it is up
}

// totals are a pulse's figures.
type totals struct {
	at                          int64
	periods, throttled, blocked int64 // periods, of those throttled, and the time of it
}

// defaultPeriod is the kernel's own.
const defaultPeriod = 100 * time.Millisecond

// NewRebuilder returns the rebuilder of a replica that may use quota of CPU time
// in each period (0: the kernel's own 100 ms), on a machine with so many CPUs.
// Without a quota there is no limit.
func NewRebuilder(quota, period time.Duration, cpus int) *Rebuilder {
	if period <= 0 {
		period = defaultPeriod
	}
	return &Rebuilder{quota: int64(quota), period: int64(period), cpus: int64(max(cpus, 1)), grid: grid{period: int64(period)}}
}

// Add takes the next pulse and gives the windows that ended before it, in the
// order of their ends. They have Kind, Start, End, and what was divided by what.
func (r *Rebuilder) Add(p Pulse, out func(Window)) {
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

// Flush ends, at the end of a trial, a window in which the replica is down.
func (r *Rebuilder) Flush(at time.Time, out func(Window)) {
	if r.down != 0 && at.UnixNano() > r.down {
		out(Window{Kind: Down, Start: r.down, End: at.UnixNano()})
	}
	r.down = 0
}

// step takes what happened between two pulses.
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
		// The period's end was seen by an earlier pulse, between the kernel's two
		// figures.
		end = r.grid.last(r.crossedFrom, now.at)
	}
	// No more windows than there is room for: counters that jump are no reason
	// for windows that overlap.
	room := (end - r.ended + r.period - 1) / r.period
	n := min(max(throttled+r.crossed, 1), room)
	r.divide(end, n, blocked, r.crossed > 0, out)
	r.crossed = 0
}

// divide gives the windows of n periods, of which the last ended at end. Where
// several periods went by between two pulses each window is as long as the
// others. Where the throttling was unbroken over the ends of periods, as it is
// after a small quota was overrun by more than itself, all periods but the first
// were lost whole.
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

// give gives one window, as long as there is room for, at most a period.
func (r *Rebuilder) give(end, blocked, cpus int64, out func(Window)) {
	start := max(end-min(blocked/cpus, r.period), r.ended)
	r.ended = end
	out(Window{Kind: Throttled, Start: start, End: end, Throttled: blocked, CPUs: int(cpus)})
}

// slack is the part of a period by which CPU time may be off before it counts as
// another CPU's: a CPU overruns its quota by up to a tick (4 ms at 250 Hz), and
// takes more or less in the next period.
const slack = 0.1

// ran is how many CPUs the replica ran on, from its throttled time in a period.
// CPUs that are busy for the whole of it are either running or throttled, and
// can run for the quota: blocked + quota = CPUs x period. Where they were not
// busy throughout it is the fewest that it can have been.
func (r *Rebuilder) ran(blocked int64) int64 {
	busy := float64(blocked+r.quota) / float64(r.period)
	return min(max(int64(math.Ceil(busy-slack)), 1), r.cpus)
}

// grown is by how much a counter has grown; one that ran backwards counts from
// zero, as in Between.
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

// grid is where the ends of periods lie. The kernel's timer keeps to it as long
// as it runs, and mostly when it starts again after the group was idle
// (start_cfs_bandwidth forwards it by whole periods). What is known of the grid
// is the latest stretch of time in which one end lay.
type grid struct {
	period    int64
	low, high int64 // the end lies after low, at high at the latest
	known     bool
}

// passed takes that a period ended between two moments. What agrees with what is
// known narrows it; what does not replaces it: the timer started anew.
func (g *grid) passed(low, high int64) {
	if high <= low || high-low > g.period/2 {
		return // more periods than time, or too late a look: it tells nothing
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

// last is the last end of a period between two moments, or their middle where
// the grid has none there.
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
