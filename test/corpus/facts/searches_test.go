package facts

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/signals"
)

// breaking checks a breaking point: it lies between a load that was held and one that was
// missed, its interval contains it and agrees with the truth, and so does what limits the
// service.
func (e *examined) breaking(c *cell, s *summary.Cell) {
	b := s.Breaking
	if b == nil {
		if c.Load.Find {
			e.wrong(c, "no breaking point, which was searched")
		}
		return
	}
	e.limit(c, b)
	e.evidence(c, b)
	for _, who := range b.DisturbedBy {
		if !c.disturbedBy(who) {
			e.wrong(c, "%s did not disturb its search", who)
		}
	}
	if unmissed := b.Ended == string(search.Time) || b.Ended == string(search.Most); unmissed && b.AtLeast && len(c.trials) == 1 && c.missed() > 0 && len(b.DisturbedBy) == 0 {
		e.wrong(c, "its search ended before any load missed the objective, and %.4g missed it", c.missed())
	}
	if e.Ended != "" && b.Ended != e.Ended {
		e.wrong(c, "the search ended with %q; by construction it ends with %q", b.Ended, e.Ended)
	}
	e.windows(c, s)
	e.recovery(c, b)
	load := b.Load()
	switch {
	case load == nil:
		if !search.Ended(b.Ended).Changed() && c.heldInTests(0) && len(c.trials) == 1 && len(b.DisturbedBy) == 0 && b.LimitedBy != summary.ByGenerator && b.LimitedBy != summary.ByErrors {
			e.wrong(c, "no breaking point (%s), and test windows held a load", b.Reason)
		}
	case b.AtLeast:
		if most := c.most(); *load > most*1.005 {
			e.wrong(c, "at least %.4g: the highest load that it held is %.4g", *load, most)
		}
		if high := e.Breaks[1]; high > 0 && *load > high*1.1 {
			e.wrong(c, "at least %.4g: by construction it breaks at %.4g", *load, high)
		}
	default:
		e.breaksAt(c, b, *load)
	}
}

func (e *examined) breaksAt(c *cell, b *summary.BreakingPoint, load float64) {
	if b.Low != nil && b.High != nil {
		e.within(c, "the breaking point", load, *b.Low*0.995, *b.High*1.005)
		if e.Breaks[1] > 0 {
			e.tally.intervals++
			if *b.High < e.Breaks[0] || *b.Low > e.Breaks[1] {
				e.tally.missed = append(e.tally.missed, fmt.Sprintf("%.4g (%.4g to %.4g), by construction %v", load, *b.Low, *b.High, e.Breaks))
			}
			if *b.High < e.Breaks[0]*0.93 || *b.Low > e.Breaks[1]*1.07 {
				e.wrong(c, "%.4g (%.4g to %.4g): by construction it breaks within %v", load, *b.Low, *b.High, e.Breaks)
			}
		}
	}
	if held, missed := c.least(), c.missed(); missed == 0 || load < held*0.98 || load > missed*1.02 {
		e.wrong(c, "%.4g lies not between a load that was held (from %.4g) and one that was missed (to %.4g)", load, held, missed)
	}
	if points, bounds := e.broke(c); c.Load.Find && !bounds && len(points) == len(c.trials) {
		e.is(c, "the breaking point of its searches", &load, median(points))
		if low, high, ok := medianEnds(points); ok {
			e.is(c, "its lower end", b.Low, low)
			e.is(c, "its higher end", b.High, high)
		}
	}
	if len(c.staged()) > 0 && len(c.trials) == 1 && b.High != nil {
		e.is(c, "the first level that missed", b.High, c.missesFirst())
	}
	if c.Load.Find && !c.missedAlone() {
		e.wrong(c, "%.4g: others took CPU in each window that missed the objective", load)
	}
	tested := 0.0
	for _, h := range c.loads() {
		if met, _ := h.meets(c.objective); met && h.stage == "test" {
			tested = max(tested, h.load)
		}
	}
	switch {
	case !c.Load.Find:
	case tested < load*0.899 && !b.Untested:
		e.wrong(c, "%.4g is untested: the highest load that a test window held is %.4g", load, tested)
	case c.heldInTests(load*0.91) && len(c.trials) == 1 && b.Untested:
		e.wrong(c, "%.4g is not untested: test windows held %.4g", load, tested)
	}
}

// least is the lowest load that was held, and missed the highest that was missed, or at
// which the service was lost. most is the highest that was held.
func (c *cell) least() float64 {
	least := math.Inf(1)
	for _, h := range c.loads() {
		if met, known := h.meets(c.objective); known && met {
			least = min(least, h.load)
		}
	}
	return least
}

func (c *cell) missed() (missed float64) {
	for _, h := range c.loads() {
		if met, known := h.meets(c.objective); !known || !met {
			missed = max(missed, h.load)
		}
	}
	for _, t := range c.trials {
		for _, s := range t.steps {
			if s.Gone != "" {
				missed = max(missed, s.Load)
			}
		}
	}
	return missed
}

// missedAlone reports whether a load was missed while nobody else took CPU, or the service
// was lost.
func (c *cell) missedAlone() bool {
	alone := slices.ContainsFunc(c.loads(), func(h held) bool {
		met, known := h.meets(c.objective)
		return (!known || !met) && len(disturbed(h.part)) == 0
	})
	return alone || slices.ContainsFunc(c.trials, func(t *trial) bool {
		return slices.ContainsFunc(t.steps, func(s signals.SearchStep) bool { return s.Gone != "" })
	})
}

func (c *cell) most() (most float64) {
	for _, h := range c.loads() {
		if met, _ := h.meets(c.objective); met {
			most = max(most, h.load)
		}
	}
	return most
}

// heldInTests reports whether the test windows at some load from a least one on together
// met the objective.
func (c *cell) heldInTests(least float64) bool {
	byLoad := map[float64]*part{}
	for _, h := range c.loads() {
		if h.stage == "test" {
			if byLoad[h.load] == nil {
				byLoad[h.load] = newPart()
			}
			byLoad[h.load].merge(h.part)
		}
	}
	missed, held := math.Inf(1), []float64{}
	for load, p := range byLoad {
		if met, _ := p.meets(c.objective); met {
			held = append(held, load)
		} else {
			missed = min(missed, load)
		}
	}
	return slices.ContainsFunc(held, func(load float64) bool { return load >= least && load < missed })
}

// missesFirst is the lowest level at which the trials of a ramp together miss the
// objective.
func (c *cell) missesFirst() float64 {
	for _, l := range c.staged() {
		p := newPart()
		for _, h := range c.loads() {
			if h.load == l.target {
				p.merge(h.part)
			}
		}
		if met, known := p.meets(c.objective); known && !met {
			return l.target
		}
	}
	return math.Inf(1)
}

// orLock reports whether a limit, or a lock beside it, is what limits.
func orLock(b *summary.BreakingPoint) bool {
	return slices.ContainsFunc(b.Shown, func(f finding.Finding) bool { return f.Kind == finding.LimitOrLock })
}

// limit compares what limits a service with the construction, and with the windows that
// missed the objective.
func (e *examined) limit(c *cell, b *summary.BreakingPoint) {
	by := b.LimitedBy
	if by == "" {
		return
	}
	own := by == summary.ByParallelism && slices.Contains(e.Limits, summary.ByService) // a kind of it
	either := orLock(b) && slices.Contains(e.Limits, summary.ByCPULimit)
	if len(e.Limits) > 0 && !slices.Contains(e.Limits, by) && !own && !either {
		e.wrong(c, "limited by %q; by construction it is %q", by, strings.Join(e.Limits, " or "))
	}
	over := func(of func(held) bool) bool {
		return slices.ContainsFunc(append(slices.Clone(c.loads()), c.pushed...), func(h held) bool {
			met, _ := h.meets(c.objective)
			return !met && of(h)
		})
	}
	switch by {
	case summary.ByParallelism:
		if !over(func(h held) bool {
			whole := math.Round(h.cores())
			return whole >= 1 && math.Abs(h.cores()-whole) < 0.1*whole && (h.periods == 0 || h.throttledShare() < 0.05)
		}) {
			e.wrong(c, "no whole number of threads was busy at a load that was missed")
		}
	case summary.ByCPULimit, summary.ByThrottling:
		if !over(func(h held) bool { return h.throttled > 0 }) {
			e.wrong(c, "its CPU limit limits it, but it was never throttled at a load that was missed")
		}
	case summary.ByErrors:
		if !over(func(h held) bool { return h.bad() > h.timeouts }) {
			e.wrong(c, "its errors limit it, and no request failed")
		}
	case summary.ByMemory:
		if sum(c.trials, nil).kills == 0 {
			e.wrong(c, "its memory limits it, and nothing was killed")
		}
	}
}

// shown are figures of a window, by the words beside them in the evidence of a limit.
var shown = map[*regexp.Regexp]func(*part) float64{
	regexp.MustCompile(`(\S+%) of its CPU limit`):                     func(p *part) float64 { return 100 * p.ofLimit() },
	regexp.MustCompile(`throttled in (\S+%)`):                         func(p *part) float64 { return 100 * p.throttledShare() },
	regexp.MustCompile(`used (\S+) CPUs`):                             (*part).cores,
	regexp.MustCompile(`(\S+ ms) per throttled period`):               func(p *part) float64 { return 1000 * p.stopped / float64(p.throttled) },
	regexp.MustCompile(`answered (\S+) with`):                         (*part).rate,
	regexp.MustCompile(`(\S+) of (?:the )?\d+ CPUs were idle`):        func(p *part) float64 { return p.idle / p.hostSeconds },
	regexp.MustCompile(`(\S+) of (?:the )?\d+ CPUs were busy`):        func(p *part) float64 { return float64(p.cpus) - p.idle/p.hostSeconds },
	regexp.MustCompile(`sent more than (\S+ (?:ms|s)) late`):          func(p *part) float64 { return float64(p.lag.Quantile(0.99)) / 1e6 },
	regexp.MustCompile(`(\S+%) of the requests got no good answer`):   func(p *part) float64 { return 100 * float64(p.bad()-p.timeouts) / float64(p.requests()) },
	regexp.MustCompile(`(\d+) (?:were refused|were cut off)`):         func(p *part) float64 { return float64(max(p.refused, p.cut)) },
	regexp.MustCompile(`at ([\d,.]*\d) (?:requests/s|users) it used`): nil,
}

// evidence checks the figures that a limit rests on: they lie between those of the windows
// that missed the objective, whose loads are stated, and of the overloads after the answer.
func (e *examined) evidence(c *cell, b *summary.BreakingPoint) {
	for i, load := range b.EvidenceAt {
		if !slices.ContainsFunc(c.loads(), func(h held) bool { met, known := h.meets(c.objective); return h.load == load && (!known || !met) }) {
			e.wrong(c, "evidence (%d) is at %.4g, where no window missed the objective", i, load)
		}
	}
	nearest := math.Inf(1)
	for _, h := range c.loads() {
		if met, _ := h.meets(c.objective); !met {
			nearest = min(nearest, h.load)
		}
	}
	for words, figure := range shown {
		m := words.FindStringSubmatch(b.Evidence)
		if m == nil {
			continue
		}
		n := numbersOf(m[1])[0]
		low, high := math.Inf(1), math.Inf(-1)
		for _, h := range append(slices.Clone(c.loads()), c.pushed...) {
			if met, _ := h.meets(c.objective); met && h.stage != "test" && h.load < nearest {
				continue
			}
			v := h.load
			if figure != nil {
				v = figure(h.part)
			}
			if !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
		if strings.Contains(words.String(), "refused") {
			high *= float64(len(c.loads())) // a sum
		}
		e.within(c, fmt.Sprintf("%q of %q", m[1], b.Evidence), n.value, low-n.half*1.01, high+n.half*1.01)
	}
}

// windows checks the load that was tested and met the objective, and the one that missed
// it, with their figures.
func (e *examined) windows(c *cell, s *summary.Cell) {
	b := s.Breaking
	if b.Held != nil {
		found := false
		for _, t := range c.trials {
			p := newPart()
			for _, h := range c.loads() {
				if h.trial != t || h.load != b.Held.Target || h.stage != "test" {
					continue
				}
				if ok, _ := h.meets(c.objective); ok || !late(h.part) { // else the generator missed it
					p.merge(h.part)
				}
			}
			met, known := p.meets(c.objective)
			if v := b.Held.LatencyMS; known && met && v != nil && math.Abs(v.Named(e.quantile())-p.ms(e.quantile())) < 1e-6*p.ms(e.quantile()) {
				found = true
				e.is(c, "the availability of the load that was held", b.Held.Availability, p.availability())
				e.is(c, "the CPU of the limit at the load that was held", b.Held.CPUOfLimit, p.ofLimit())
			}
		}
		if !found {
			e.wrong(c, "no test windows at %.4g met the objective with these figures", b.Held.Target)
		}
	}
	if b.Missed != nil && !slices.ContainsFunc(c.loads(), func(h held) bool { met, _ := h.meets(c.objective); return !met && h.load == b.Missed.Target }) {
		e.wrong(c, "no window at %.4g missed the objective", b.Missed.Target)
	}
	if b.Held != nil && b.Missed != nil && b.Missed.Target <= b.Held.Target {
		e.wrong(c, "it missed at %.4g and held %.4g", b.Missed.Target, b.Held.Target)
	}
}

// stepsAt are the steps of a stage at a load, of all searches of a cell.
func (c *cell) stepsAt(stage string, load float64) (trials []*trial, steps []*signals.SearchStep) {
	for _, t := range c.trials {
		for i := range t.steps {
			if s := &t.steps[i]; s.Stage == stage && s.Load == load {
				trials, steps = append(trials, t), append(steps, s)
			}
		}
	}
	return trials, steps
}

// recovery checks what is stated of a sustained load, and of what followed an overload.
func (e *examined) recovery(c *cell, b *summary.BreakingPoint) {
	r := b.Recovery
	if r == nil {
		return
	}
	if r.Hysteresis() && r.Reason == "" && !e.metastable {
		e.wrong(c, "it recovers at %.4g, and by construction it recovers at once", orNaN(b.RecoversAt))
	}
	if n := len(c.trials); r.Searches[0] > r.Searches[1] || r.Searches[1] > n {
		e.wrong(c, "%d of %d searches measured the recovery, of %d", r.Searches[0], r.Searches[1], n)
	}
	if r.SustainedAt != nil {
		found := false
		trials, steps := c.stepsAt("sustain", *r.SustainedAt)
		for i, s := range steps {
			met, known := window(trials[i], s).meets(c.objective)
			found = found || r.Sustained == nil && (!known || !met) || r.Sustained != nil && known && met == *r.Sustained
		}
		if !found {
			e.wrong(c, "%d steps sustain %.4g, none with that outcome", len(steps), *r.SustainedAt)
		}
	}
	if r.Overload != nil {
		_, over := c.stepsAt("overload", *r.Overload)
		_, sustain := c.stepsAt("sustain", *r.Overload) // one that it did not hold is an overload
		if len(over)+len(sustain) == 0 {
			e.wrong(c, "no overload of %.4g", *r.Overload)
		}
	}
	if b.RecoversAt == nil && r.NotAt == nil {
		return
	}
	for _, t := range c.trials {
		met, missed := descent(t, c.objective)
		if (b.RecoversAt == nil && met == 0 || b.RecoversAt != nil && *b.RecoversAt == met) && (r.NotAt == nil || *r.NotAt == missed) {
			return
		}
	}
	e.wrong(c, "no search recovered at %.4g and not at %.4g", orNaN(b.RecoversAt), orNaN(r.NotAt))
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// descent is the highest load after an overload that met the objective, and the lowest that
// never did.
func descent(t *trial, o *objective) (met, missed float64) {
	tries := map[float64]bool{}
	for i := range t.steps {
		if s := &t.steps[i]; s.Stage == "descend" {
			is, known := window(t, s).meets(o)
			tries[s.Load] = tries[s.Load] || known && is
		}
	}
	missed = math.Inf(1)
	for load, is := range tries {
		if is {
			met = max(met, load)
		} else {
			missed = min(missed, load)
		}
	}
	return met, missed
}

// knee checks a knee: it lies between loads that were held, its CPU is that of the loads
// near it, and its floor not below the lowest latency.
func (e *examined) knee(c *cell, s *summary.Cell) {
	k := s.Knee
	if k == nil {
		return
	}
	if e.Flat {
		e.wrong(c, "a knee at %.4g; by construction latency does not depend on the load", k.Load)
	}
	lowest, highest, floor := math.Inf(1), 0.0, math.Inf(1)
	shareLow, shareHigh := math.Inf(1), 0.0
	for _, h := range c.loads() {
		if h.requests() == 0 {
			continue
		}
		lowest, highest = min(lowest, h.load), max(highest, h.load)
		if h.load < k.Load*2 && h.load > k.Load/2 && h.limit > 0 {
			share := h.ofLimit() / h.load * k.Load
			shareLow, shareHigh = min(shareLow, share), max(shareHigh, share)
		}
		if h.latency.Count() > 0 {
			floor = min(floor, h.ms(k.Quantile))
		}
	}
	e.within(c, "the knee", k.Load, max(k.Low, lowest*0.99), min(k.High, highest*1.01))
	if k.OfLimit != nil && shareHigh > 0 {
		e.within(c, "the CPU of the limit at the knee", *k.OfLimit, shareLow*0.9, shareHigh*1.1)
	}
	e.within(c, "the floor below the knee", k.FloorMS, floor*0.8, math.Inf(1))
}
