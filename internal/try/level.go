package try

import (
	"slices"
	"strconv"

	"github.com/millicore/millicore/internal/analysis"
)

// share of the lowest breaking point at which the variants are compared by
// their latency: high enough that queues and throttling show, low enough that
// none of them is beyond its own.
const share = 0.7

// Level are the changes of the searched experiment, as of --set, that hold all variants
// at one common load, six times each; nil if a variant has no breaking point.
func Level(variants []Variant, found *analysis.Summary) []string {
	cells := byService(found)
	lowest, bound := 0.0, 0.0
	variants = slices.DeleteFunc(slices.Clone(variants), func(v Variant) bool { return v.NoEffect != "" })
	for _, v := range variants {
		c := cells[v.Service]
		if c == nil || c.Breaking == nil || c.Breaking.Load() == nil {
			return nil
		}
		of := &lowest
		if c.Breaking.AtLeast { // it may hold much more: only where nothing else is known
			of = &bound
		}
		if load := *c.Breaking.Load(); *of == 0 || load < *of {
			*of = load
		}
	}
	if lowest == 0 {
		lowest = bound
	}
	limited := slices.DeleteFunc(slices.Clone(variants), func(v Variant) bool { return v.Unlimited })
	if lowest == 0 || len(limited) < 2 {
		return nil // nothing to choose between
	}
	key, load := "load.rate", strconv.FormatFloat(lowest*share, 'f', 1, 64)
	if cells[asIs].Load.Kind == "closed" {
		key, load = "load.users", strconv.Itoa(max(1, int(lowest*share)))
	}
	return []string{"load.find=null", key + "=" + load, "measure.warmup=1s", "measure.duration=4s", "measure.repeats=6",
		"measure.interval=1s", "profile=false"}
}

// byService finds the cells of a summary.
func byService(s *analysis.Summary) map[string]*analysis.CellSummary {
	cells := map[string]*analysis.CellSummary{}
	for i := range s.Cells {
		cells[s.Cells[i].Service] = &s.Cells[i]
	}
	return cells
}
