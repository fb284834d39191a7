package capacity

import (
	"math"
	"strconv"

	"github.com/millicore/millicore/internal/analysis/summary"
)

// CommonLoad returns the load at which the cells of searches are measured again, so
// that their latencies compare: a share of the lowest breaking point, to three digits.
// A lower bound decides only if no breaking point is known, because the service may hold
// much more. Users are whole. It returns the cells without a breaking point, beside
// which no load is common to all; those of services that are not available do not count.
func CommonLoad(s *summary.Summary, share float64) (load float64, without []int) {
	lowest, bound := math.Inf(1), math.Inf(1)
	users := false
	for i := range s.Cells {
		c := &s.Cells[i]
		switch {
		case c.Skipped():
		case c.Breaking == nil || c.Breaking.Load() == nil:
			without = append(without, i)
		case c.Breaking.AtLeast:
			bound = min(bound, *c.Breaking.Load())
		default:
			lowest = min(lowest, *c.Breaking.Load())
		}
		users = users || c.Load.Kind == "closed"
	}
	if math.IsInf(lowest, 1) {
		lowest = bound
	}
	switch {
	case len(without) > 0 || math.IsInf(lowest, 1):
		return 0, without
	case users:
		return max(1, math.Floor(lowest*share)), nil
	}
	load, _ = strconv.ParseFloat(strconv.FormatFloat(lowest*share, 'g', 3, 64), 64)
	return load, nil
}
