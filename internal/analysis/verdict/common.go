package verdict

import (
	"math"
	"strconv"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
)

// CommonLoad returns the load at which the cells of searches are measured again, so
// that their latencies compare: a share of the lowest breaking point, to three digits.
// A lower bound decides only if no breaking point is known, because the service may hold
// much more. It is taken whole then, because every start held it, but not if the generator or
// the host was the limit, which need room as a service does. Users are whole. It
// returns the cells without a breaking point, beside which no load is common to all;
// those of services that are not available do not count.
func CommonLoad(s *summary.Summary, share float64) (load float64, held bool, without []int) {
	lowest, bound := math.Inf(1), math.Inf(1)
	users, room := false, false
	for i := range s.Cells {
		c := &s.Cells[i]
		switch {
		case c.Skipped():
		case c.Breaking == nil || c.Breaking.Load() == nil:
			without = append(without, i)
		case c.Breaking.AtLeast:
			bound = min(bound, *c.Breaking.Load())
			room = room || c.Breaking.LimitedBy == summary.ByGenerator || c.Breaking.LimitedBy == summary.ByHost
		default:
			lowest = min(lowest, *c.Breaking.Load())
		}
		users = users || c.Load.Kind == "closed"
	}
	if math.IsInf(lowest, 1) {
		lowest, held = bound, !room
	}
	if held {
		share = 1
	}
	switch {
	case len(without) > 0 || math.IsInf(lowest, 1):
		return 0, false, without
	case users:
		return max(1, math.Floor(lowest*share)), held, nil
	}
	load, _ = strconv.ParseFloat(strconv.FormatFloat(lowest*share, 'g', 3, 64), 64)
	return load, held, nil
}

// longest is how many times as long as planned a trial at the common load may be.
const longest = 4

// CommonDuration is the length of the trials at a load with which all trials of a cell
// together have the requests that a quantile needs, with a tenth more, because arrivals are
// random. 0: the load is a number of users, which is no rate, or it would take too long.
func CommonDuration(e *experiment.Experiment, load float64, requests int64) time.Duration {
	if e.Cells[0].Load.Users != nil {
		return 0
	}
	seconds := 1.1 * float64(requests) / (load * float64(e.Measure.Repeats))
	d := time.Duration(math.Ceil(seconds)) * time.Second
	if d > longest*e.Measure.Duration {
		return 0
	}
	return d
}
