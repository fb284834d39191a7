package facts

import (
	"cmp"
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/signals"
)

// tail is the slow tail of a cell by the stamps of its slow requests.
type tail struct {
	threshold       float64 // ms
	requests        float64
	latency         float64   // ms, of all of them together
	lag, before     float64   // of it: the generator's own delay, and all time before sending
	throttled, down float64   // after sending within throttle windows; within frames with a death, and 1 s after
	afterThrottling float64   // after sending, up to 1 s after a window
	others          float64   // within frames in which others took CPU
	afterStalls     float64   // after sending, up to 1 s after the generator was late
	stalled         float64   // while the generator was late with some request
	trials          []float64 // requests by trial
	agents, foreign float64   // CPU seconds of the agents, and of all others, in frames in which others took CPU
	hasAny          bool
}

// tailOf is the slow tail above a threshold in ms.
func (c *cell) tailOf(threshold float64) (s tail) {
	s.threshold = threshold
	for _, t := range c.trials {
		var measured int64 = math.MaxInt64
		var taken, stalls, failing, queues [][2]int64
		for _, f := range t.frames {
			if f.Phase == signals.Measure && f.Client != nil {
				measured = min(measured, f.Start)
			}
			if h := f.Host; h != nil && h.Foreign+h.Steal > 0.05 {
				taken = append(taken, [2]int64{f.Start, f.End})
				s.agents += h.Agents * f.Seconds()
				s.foreign += (h.Foreign + h.Steal) * f.Seconds()
			}
			if v := f.Server; v != nil && (!v.Up || v.Restarts > 0 || v.OOMKills != nil && *v.OOMKills > 0) {
				failing = append(failing, [2]int64{f.Start, f.End + 1e9})
			}
		}
		for _, r := range t.slow {
			if r.Lag > 1e6 {
				stalls = append(stalls, [2]int64{r.Sent - r.Lag, r.Sent})
			}
		}
		stalls = union(stalls)
		for _, s := range stalls {
			queues = append(queues, [2]int64{s[0], s[1] + 1e9})
		}
		queues = union(queues)
		var throttled, down, after [][2]int64
		for _, w := range t.windows {
			if w.Kind == signals.Throttled {
				throttled = append(throttled, [2]int64{w.Start, w.End})
				after = append(after, [2]int64{w.Start, w.End + 1e9})
			} else {
				down = append(down, [2]int64{w.Start, w.End + 1e9})
			}
		}
		throttled, down, after, taken = union(throttled), union(append(down, failing...)), union(after), union(taken)
		judged := c.judged(t)
		before := s.requests
		for _, r := range t.slow {
			latency := float64(r.Done-r.Intended) / 1e6
			if latency < threshold*0.9985 || r.Intended < measured || len(t.steps) > 0 && !contains(judged, r.Done) {
				continue
			}
			s.hasAny = true
			s.requests += r.For
			s.latency += latency * r.For
			s.lag += float64(r.Lag) / 1e6 * r.For
			s.before += float64(r.Sent-r.Intended) / 1e6 * r.For
			s.throttled += overlap(throttled, r.Sent, r.Done) * r.For
			s.afterThrottling += overlap(after, r.Intended, r.Done) * r.For
			s.down += overlap(down, r.Intended, r.Done) * r.For
			s.others += overlap(taken, r.Intended, r.Done) * r.For
			s.afterStalls += overlap(queues, r.Sent, r.Done) * r.For
			s.stalled += overlap(stalls, r.Intended, r.Done) * r.For
		}
		s.trials = append(s.trials, s.requests-before)
	}
	return s
}

// judged are the stretches of a trial that the tail is about; nil: all of it. Of a search
// they are the windows that tested its answer.
func (c *cell) judged(t *trial) (all [][2]int64) {
	last, held := 0.0, 0.0
	for i := range t.steps {
		if s := &t.steps[i]; s.Stage == "test" {
			last = s.Load
			if met, _ := window(t, s).meets(c.objective); met {
				held = max(held, s.Load)
			}
		}
	}
	if held > 0 {
		last = held
	}
	for _, s := range t.steps {
		if s.Stage != "test" || s.Load != last {
			continue
		}
		for _, f := range t.frames {
			if f.Seq >= s.First && f.Seq <= s.Last && f.Client != nil {
				all = append(all, [2]int64{f.Start, f.End})
			}
		}
	}
	return all
}

// contains reports whether a time lies in one of some stretches.
func contains(all [][2]int64, at int64) bool {
	return slices.ContainsFunc(all, func(s [2]int64) bool { return at > s[0] && at <= s[1] })
}

func union(all [][2]int64) (out [][2]int64) {
	slices.SortFunc(all, func(a, b [2]int64) int { return int(a[0] - b[0]) })
	for _, s := range all {
		if n := len(out); n > 0 && s[0] <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], s[1])
		} else {
			out = append(out, s)
		}
	}
	return out
}

// overlap is the time in ms that a stretch shares with others.
func overlap(all [][2]int64, from, to int64) (ms float64) {
	for _, s := range all {
		ms += float64(max(0, min(to, s[1])-max(from, s[0]))) / 1e6
	}
	return ms
}

// ends are the ends of what a cause may explain, as shares of the tail.
func (s tail) ends(cause string) (low, high float64) {
	switch cause {
	case "generator":
		return s.lag / s.latency, max(s.before, s.stalled) / s.latency
	case "throttling":
		return 0, s.afterThrottling / s.latency
	case "generator_queue":
		return 0, s.afterStalls / s.latency
	case "restart":
		return 0, s.down / s.latency
	case "neighbours": // and what may be throttling as well
		return 0, (s.others + s.throttled) / s.latency
	}
	return 0, 1
}

const slack = 0.02 // of a tail

// most is the smallest number of the tail's trials that has more than a share of it.
func (s tail) most(share float64) (few int) {
	sum := 0.0
	slices.SortFunc(s.trials, func(a, b float64) int { return cmp.Compare(b, a) })
	for _, in := range s.trials {
		if sum <= share*s.requests {
			sum, few = sum+in, few+1
		}
	}
	return few
}

// tail checks the causes of a slow tail: where it begins, its mean, the ends of each share
// and of what few trials it is, and the main cause of the construction.
func (e *examined) tail(c *cell, s *summary.Cell) {
	q := "p99"
	if e.quantile() == "p999" {
		q = "p999"
	}
	got := s.Causes
	if got == nil {
		if t := c.tailOf(c.all().ms(q)); t.hasAny && !c.Load.Find && len(c.staged()) == 0 {
			e.wrong(c, "no causes of a slow tail of %.0f requests", t.requests)
		}
		return
	}
	threshold, loose, few := c.all().ms(q), 0.0, 1.02
	if c.Load.Find { // a few requests, and perhaps of other tests
		threshold, loose, few = got.FromMS, 0.25, 1.3
	} else {
		e.is(c, "the threshold of the slow tail", &got.FromMS, threshold)
	}
	t := c.tailOf(threshold)
	if !t.hasAny {
		e.wrong(c, "it has no slow tail")
		return
	}
	e.within(c, "the mean of the slow tail", got.MeanMS, t.latency/t.requests/few, t.latency/t.requests*few)
	if !got.Divided() {
		return
	}
	total, largest, main := 0.0, 0.0, ""
	for _, share := range got.Shares() {
		low, high := t.ends(share.Name)
		e.within(c, "the share of "+share.Name+" in the slow tail", share.Value, low-slack-loose, high+slack+loose)
		e.within(c, "the lower end of "+share.Name, share.Low, 0, share.High)
		if share.Name != "rest" {
			e.within(c, "the upper end of "+share.Name, share.High, low-slack-loose, high+slack+loose)
		}
		if total += share.Value; share.Low > largest {
			largest, main = share.Low, share.Name
		}
	}
	e.within(c, "the sum of the shares", total, 0.999, 1.001)
	if e.Tail != "" && largest > 0.5 && main != e.Tail {
		e.wrong(c, "the slow tail is mostly %s; by construction it is %s", main, e.Tail)
	}
	if (s.Breaking != nil && (s.Breaking.LimitedBy == summary.ByCPULimit || s.Breaking.LimitedBy == summary.ByThrottling)) && got.Rest > 0.9 && got.ThrottlingHigh < 0.001 {
		e.wrong(c, "%s limits it, and none of its slow tail is throttling", s.Breaking.LimitedBy)
	}
	e.within(c, "the time while throttled", got.ThrottledDirectly, t.throttled/t.latency-slack-loose, t.throttled/t.latency+slack+loose)
	if got.NeighboursGenerator > 0 && got.MostlyGenerator() && t.agents < t.foreign {
		e.wrong(c, "the agents used %.1f CPU seconds beside others, and these %.1f", t.agents, t.foreign)
	}
	if c.Load.Find {
		return
	}
	e.counts(c, "trials of the slow tail", int64(got.Trials), int64(len(c.trials)))
	// Two requests at the threshold may belong to the tail or not.
	margin := slack + 2/t.requests
	e.within(c, "the trials with three quarters of the slow tail", float64(got.MostIn), float64(t.most(0.75-margin)), float64(t.most(0.75+margin)))
}
