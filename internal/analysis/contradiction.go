package analysis

import (
	"fmt"
	"maps"
)

const (
	// noShare is the share of the slow tail below which a cause explains none of it,
	// mainShare the one from which it explains most.
	noShare, mainShare = 0.05, 0.5
	// noMore is how much more a service must hold without its CPU limit for the limit to
	// cost it load. The starts of one program differ by 2%, one standard deviation.
	noMore = 1.05
)

// withhold replaces what limits the service by the two findings that exclude each other.
func (b *BreakingPoint) withhold(contradiction string) {
	b.LimitedBy, b.Evidence, b.Contradiction = "", "", contradiction
}

// limitsService reports whether it is the service, or its limits, that the breaking
// point is explained by.
func (b *BreakingPoint) limitsService() bool {
	return b.LimitedBy != "" && b.LimitedBy != ByGenerator && !b.AtLeast
}

func (b *BreakingPoint) byLimit() bool {
	return b.LimitedBy == ByCPULimit || b.LimitedBy == ByThrottling
}

// GeneratorsTail reports whether most of the time of the slow tail is the generator's
// own delay, or a queue that it caused. The tail then says nothing about the service.
func (c *CellSummary) GeneratorsTail() bool {
	return c.Causes != nil && c.Causes.OfGenerator() >= mainShare
}

// generatorsLatency reports whether a latency quantile of the cell is one of the
// generator: its slow tail is, and the quantile lies in the tail.
func (c *CellSummary) generatorsLatency(quantile string) bool {
	if !c.GeneratorsTail() {
		return false
	}
	share, known := ShareOf(quantile)
	from, ok := ShareOf(c.Causes.Quantile)
	return known && (!ok || share >= from)
}

// withholdRefuted withholds what limits a service, by the windows above its breaking
// point, if the slow tail at the breaking point shows the opposite.
func (c *CellSummary) withholdRefuted() {
	b, tail := c.Breaking, c.Causes
	if b == nil || tail == nil || !b.limitsService() {
		return
	}
	of := func(share float64, what string) string {
		return fmt.Sprintf("%.0f%% of the time of its slowest requests at the breaking point is %s", 100*share, what)
	}
	above := "above the breaking point " + b.Evidence
	throttled := 0.0
	if c.CPU.Periods != nil && *c.CPU.Periods > 0 {
		throttled = float64(deref(c.CPU.ThrottledPeriods)) / float64(*c.CPU.Periods)
	}
	switch {
	case b.LimitedBy == ByMemory || b.LimitedBy == ByErrors: // whatever is slow
	case c.GeneratorsTail():
		b.withhold(of(tail.OfGenerator(), "the generator's own") + ", so nothing is known about the service")
	case b.byLimit() && tail.Throttling < noShare && throttled >= throttledLittle:
		b.withhold(fmt.Sprintf("%s; but %s, although it was throttled in %.0f%% of the periods there", above, of(tail.Throttling, "throttling"), 100*throttled))
	case b.LimitedBy == ByDependency && c.WaitsMS != nil && tail.Dependency < noShare:
		b.withhold(above + "; but " + of(tail.Dependency, "the dependency"))
	case b.byLimit():
	case tail.Throttling >= mainShare:
		b.withhold(above + "; but " + of(tail.Throttling, "throttling"))
	case tail.Dependency >= mainShare && b.LimitedBy != ByDependency:
		b.withhold(above + "; but " + of(tail.Dependency, "the dependency"))
	}
}

// WithoutLimit returns a breaking point under a CPU limit, as it stands beside that of
// the same service without the limit. If the service holds no more without the limit,
// the limit is not what limits it. If it holds more, and the intervals do not overlap,
// its own parallelism is not what limits it. The same value is returned if nothing is
// withheld.
func (b *BreakingPoint) WithoutLimit(free *BreakingPoint) *BreakingPoint {
	if b == nil || free == nil || b.AtLeast || free.AtLeast || b.Load() == nil || free.Load() == nil {
		return b
	}
	more := *free.Load() > noMore**b.Load()
	apart := b.High != nil && free.Low != nil && *free.Low > *b.High
	but := ""
	switch {
	case b.byLimit() && !more:
		but = "no more"
	case b.LimitedBy == ByParallelism && more && apart:
		but = "more"
	default:
		return b
	}
	out := *b
	out.withhold(fmt.Sprintf("above the breaking point %s; but without the limit it holds %s (%s against %s)", b.Evidence, but, threeDigits(*free.Load()), threeDigits(*b.Load())))
	return &out
}

// withholdUnlimited compares the breaking points of services under a CPU limit with
// those of the same services without one.
func withholdUnlimited(cells []CellSummary) {
	for i := range cells {
		for k := range cells {
			if differByLimit(&cells[i], &cells[k]) {
				cells[i].Breaking = cells[i].Breaking.WithoutLimit(cells[k].Breaking)
			}
		}
	}
}

// differByLimit reports whether the second cell is the first one without its CPU limit:
// at most one axis differs, which is that of the limits.
func differByLimit(c, free *CellSummary) bool {
	if c.Service != free.Service || c.Load.Kind != free.Load.Kind || c.Limits.CPUMillis == nil || free.Limits.CPUMillis != nil ||
		c.Limits.Replicas != free.Limits.Replicas {
		return false
	}
	same := func(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
	different := 0
	for name := range maps.Keys(c.Vary) {
		if !same(c.Vary[name], free.Vary[name]) {
			different++
		}
	}
	return different <= 1
}
