package capacity

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/causes"
	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
)

const (
	// noShare is the share of the slow tail below which a cause explains none of it.
	noShare = 0.05
	// noMore is how much more a service must hold without its CPU limit for the limit to
	// cost it load. The starts of one program differ by 2%, one standard deviation.
	noMore = 1.05
	// mayDelay is the share of the late requests that must at least have waited while the CPU
	// limit may have delayed them, for the limit to be what makes the service miss its
	// objective: it was 0.9 and more for 107 of 108 simulated services that their limit limits, and
	// at most 0.82 for 19 that pause.
	mayDelay = 0.85
	// fewestLate is the number of late requests from which their share shows that.
	fewestLate = 5
)

// withhold replaces what limits the service by the two findings that exclude each other:
// what showed the limit, and what refutes it.
func withhold(b *summary.BreakingPoint, refuted finding.Finding) {
	refuted.Because = b.Shown
	b.LimitedBy, b.Shown, b.Refuted = "", nil, refuted
}

// limitsService reports whether it is the service, or its limits, that the breaking
// point is explained by.
func limitsService(b *summary.BreakingPoint) bool {
	return b.LimitedBy != "" && b.LimitedBy != summary.ByGenerator && !b.AtLeast
}

func byLimit(b *summary.BreakingPoint) bool {
	return b.LimitedBy == summary.ByCPULimit || b.LimitedBy == summary.ByThrottling
}

// WithholdRefuted withholds what limits a service, by the windows above its breaking
// point, if the slow tail at the breaking point shows the opposite.
func WithholdRefuted(c *summary.Cell) {
	b, tail := c.Breaking, c.Causes
	if b == nil || tail == nil || !limitsService(b) {
		return
	}
	throttled := 0.0
	if c.CPU.Periods != nil && *c.CPU.Periods > 0 {
		throttled = float64(sums.Value(c.CPU.ThrottledPeriods)) / float64(*c.CPU.Periods)
	}
	switch {
	case b.LimitedBy == summary.ByMemory || b.LimitedBy == summary.ByErrors: // whatever is slow
	case !tail.Divided(): // a few requests refute nothing
	case causes.GeneratorsTail(c):
		withhold(b, finding.Finding{Kind: finding.TailOfGenerator, Share: tail.OfGenerator()})
	case byLimit(b) && max(tail.Throttling, tail.ThrottlingHigh) < noShare && throttled >= throttledLittle:
		withhold(b, finding.Finding{Kind: finding.TailNotThrottled, Share: max(tail.Throttling, tail.ThrottlingHigh), Allowed: throttled})
	case b.LimitedBy == summary.ByDependency && c.WaitsMS != nil && tail.Dependency < noShare:
		withhold(b, finding.Finding{Kind: finding.TailOfDependency, Share: tail.Dependency})
	case byLimit(b), perhapsByLimit(b):
	case tail.Throttling >= causes.MainShare:
		withhold(b, finding.Finding{Kind: finding.TailThrottled, Share: tail.Throttling})
	case tail.Dependency >= causes.MainShare && b.LimitedBy != summary.ByDependency && b.LimitedBy != summary.ByService: // a pool that waits
		withhold(b, finding.Finding{Kind: finding.TailOfDependency, Share: tail.Dependency})
	}
}

// WithholdBeside withholds a CPU limit that the windows above a breaking point show, if it
// cannot have delayed enough of the requests that were late in them. late counts these, and
// those that it may have delayed: their replica was throttled, or worked off what that had left,
// while they waited. A service that stands still now and then is throttled as well, when it
// catches up.
func WithholdBeside(b *summary.BreakingPoint, late func() (may, of float64)) {
	if !byLimit(b) || b.AtLeast {
		return
	}
	if may, of := late(); of >= fewestLate && may < mayDelay*of {
		withhold(b, finding.Finding{Kind: finding.LateBesideLimit, Share: 1 - may/of, Text: b.FirstKind})
	}
}

// withoutLimit returns a breaking point under a CPU limit, as it stands beside that of
// the same service without the limit. If the service holds no more without the limit,
// the limit is not what limits it: what limits it without the limit is. If it holds more,
// and the intervals do not overlap, its own parallelism is not what limits it, and where it
// was not clear whether the limit is, or requests waited beside it, it is. The same value is returned if nothing changes.
func withoutLimit(b *summary.BreakingPoint, free *summary.BreakingPoint) *summary.BreakingPoint {
	if b == nil || free == nil || b.AtLeast || b.Load() == nil || free.Load() == nil {
		return b
	}
	apart := b.High != nil && free.Low != nil && *free.Low > *b.High && holdsMore(b, free)
	switch {
	case apart && perhapsByLimit(b):
		return decided(b)
	case apart && b.Refuted.Kind == finding.LateBesideLimit:
		out := *b
		out.Shown, out.Refuted = b.Refuted.Because, finding.Finding{}
		return decided(&out)
	case free.AtLeast:
	case (byLimit(b) || perhapsByLimit(b)) && !holdsMore(b, free):
		return refutedBy(b, free, finding.NoMoreWithoutLimit)
	case apart && b.LimitedBy == summary.ByParallelism:
		return refutedBy(b, free, finding.MoreWithoutLimit)
	}
	return b
}

// missesToo returns a breaking point under a CPU limit beside a search without the limit that
// found none, because too many requests were late at any load. If loads as low missed the
// objective there, the limit is not why this one misses it.
func missesToo(b, free *summary.BreakingPoint, steps []summary.Step) *summary.BreakingPoint {
	late := func(f finding.Finding) bool {
		return f.Kind == finding.LateAtAnyLoad || f.Kind == finding.PerhapsLateAtAnyLoad || f.Kind == finding.MissesInBursts
	}
	if b == nil || free == nil || b.AtLeast || b.Load() == nil || free.Load() != nil || !byLimit(b) && !perhapsByLimit(b) || !slices.ContainsFunc(free.Why, late) {
		return b
	}
	for _, s := range steps {
		if s.Met != nil && !*s.Met && s.Target <= *b.Load() {
			out := *b
			withhold(&out, finding.Finding{Kind: finding.MissesWithoutLimit, Load: *b.Load(), Other: s.Target})
			return &out
		}
	}
	return b
}

// perhapsByLimit reports whether the figures show that it is the limit or something else.
func perhapsByLimit(b *summary.BreakingPoint) bool {
	return len(b.Shown) > 0 && (b.Shown[0].Kind == finding.LimitOrLock || b.Shown[0].Kind == finding.LimitOrParallelism)
}

// decided returns a breaking point with the limit as what limits it.
func decided(b *summary.BreakingPoint) *summary.BreakingPoint {
	out := *b
	out.Shown = slices.Clone(b.Shown)
	out.LimitedBy, out.Shown[0] = summary.ByCPULimit, finding.Finding{Kind: finding.LimitUsed, Use: b.Shown[0].Use}
	if used := b.Shown[0].Use.OfLimit; used != nil && *used < atLimit {
		out.LimitedBy, out.Shown[0].Kind = summary.ByThrottling, finding.ThrottledInBursts
	}
	return &out
}

// ofSetting returns a breaking point of another setting of a server under a CPU limit, as
// it stands beside those of the server as it is, under the same limit and without it. The
// setting itself did not run without the limit, so its limit is refuted only if all three
// break at the same load.
func ofSetting(b *summary.BreakingPoint, asItIs, free *summary.BreakingPoint) *summary.BreakingPoint {
	if !bothBreak(b, free) || !bothBreak(asItIs, free) || !byLimit(b) && !perhapsByLimit(b) || holdsMore(asItIs, free) || holdsMore(b, free) || holdsMore(free, b) {
		return b
	}
	return refutedBy(b, free, finding.NoMoreAsItIs)
}

func bothBreak(b, free *summary.BreakingPoint) bool {
	return b != nil && free != nil && !b.AtLeast && !free.AtLeast && b.Load() != nil && free.Load() != nil
}

// refutedBy returns a breaking point that the one without the limit refutes. If the service
// itself limits that one, it limits this one as well.
func refutedBy(b *summary.BreakingPoint, free *summary.BreakingPoint, by finding.Kind) *summary.BreakingPoint {
	out := *b
	why := finding.Finding{Kind: by, Load: *b.Load(), Other: *free.Load()}
	if by != finding.MoreWithoutLimit && slices.Contains([]string{summary.ByService, summary.ByParallelism, summary.ByDependency}, free.LimitedBy) {
		why.By = free.LimitedBy
		out.LimitedBy, out.Shown = free.LimitedBy, []finding.Finding{why}
		return &out
	}
	withhold(&out, why)
	return &out
}

// holdsMore reports whether the second breaking point is above the first: by more than the
// starts of one program differ, and by more than the two searches' own intervals explain.
// These explain it if each contains the other's breaking point.
func holdsMore(b, other *summary.BreakingPoint) bool {
	return *other.Load() > noMore**b.Load() && !(mayBe(b, *other.Load()) && mayBe(other, *b.Load()))
}

// mayBe reports whether a load lies in the interval of the breaking point. An end that is
// not known excludes nothing.
func mayBe(b *summary.BreakingPoint, load float64) bool {
	return b.Low != nil && *b.Low <= load && (b.High == nil || load <= *b.High)
}

// WithholdUnlimited compares the breaking points of services under a CPU limit with
// those of the same services without one. A record about one server has a service for each
// of its settings; nil: it is not about one.
func WithholdUnlimited(cells []summary.Cell, server *experiment.Server) {
	found := make([]*summary.BreakingPoint, len(cells)) // before anything is withheld
	for i := range cells {
		found[i] = cells[i].Breaking
	}
	for i := range cells {
		for k := range cells {
			c, free := &cells[i], &cells[k]
			switch {
			case !lifted(c, free) || unknownLimits(server, free.Service):
			case asItIs(server, c.Service) || c.Service == free.Service && axesDiffering(c, free) <= 1:
				c.Breaking = missesToo(withoutLimit(c.Breaking, found[k]), found[k], free.Steps)
			case server != nil:
				for j := range cells {
					if asItIs(server, cells[j].Service) && lifted(&cells[j], free) && *cells[j].Limits.CPUMillis == *c.Limits.CPUMillis {
						c.Breaking = ofSetting(c.Breaking, found[j], found[k])
					}
				}
			}
		}
	}
}

// Beside are the cells of a plan whose breaking points decide, by WithholdUnlimited, what is
// said about that of a cell.
func Beside(e *experiment.Experiment, cell int) (all []int) {
	c := &e.Cells[cell]
	if c.Limits.CPUMillis == 0 || !c.Load.Find && LevelsOf(e, c) == nil {
		return nil
	}
	for i := range e.Cells {
		if i != cell && (e.Server != nil || e.Cells[i].Limits.CPUMillis == 0) {
			all = append(all, i)
		}
	}
	return all
}

// lifted reports whether the second cell runs under the conditions of the first one, but
// without a CPU limit. Beside a neighbour, which gets what the limit leaves, others change too.
func lifted(c, free *summary.Cell) bool {
	return free.Beside == nil && c.Load.Kind == free.Load.Kind && c.Limits.CPUMillis != nil && free.Limits.CPUMillis == nil &&
		c.Limits.Replicas == free.Limits.Replicas
}

// axesDiffering counts the axes that two cells differ in. One is that of the limits.
func axesDiffering(c, other *summary.Cell) (n int) {
	same := func(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
	for name := range c.Vary {
		if !same(c.Vary[name], other.Vary[name]) {
			n++
		}
	}
	return n
}

// asItIs reports whether a service runs the server of a record without any setting: with
// the label of the first one, under whatever limit.
func asItIs(server *experiment.Server, service string) bool {
	s := settingOf(server, service)
	return s != nil && s.Label == server.Settings[0].Label
}

func unknownLimits(server *experiment.Server, service string) bool {
	s := settingOf(server, service)
	return s != nil && s.UnknownLimits
}

func settingOf(server *experiment.Server, service string) *experiment.Setup {
	if server == nil {
		return nil
	}
	for i := range server.Settings {
		if s := &server.Settings[i]; s.Service == service && service != "" {
			return s
		}
	}
	return nil
}
