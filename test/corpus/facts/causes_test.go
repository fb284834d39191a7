package facts

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/signals"
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
	case "waiting in the generator":
		return s.lag / s.latency, max(s.before, s.stalled) / s.latency
	case "throttling":
		return s.throttled / s.latency, s.afterThrottling / s.latency
	case "queues after pauses of the generator":
		return 0, s.afterStalls / s.latency
	case "restarts and memory pressure":
		return 0, s.down / s.latency
	case "CPU used by others":
		return 0, s.others / s.latency
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

// mostly is the share of the tail that "mostly of 2 of 6 trials" is about, at least and at
// most. Two requests at the threshold may belong to the tail or not.
func (s tail) mostly() (low, high float64) {
	margin := slack + 2/s.requests
	return 0.75 - margin, 0.75 + margin
}

// mostIn checks "mostly of 2 of 6 trials". Of a search, the tests with few
// requests decide, and the threshold of its tail is another.
func (k *check) mostIn(c *cell) error {
	s, of := c.tailOf(k.threshold(c)), len(c.trials)
	low, high := s.mostly()
	few, _, err := figure(k.m["few"])
	err = first(err, need(2*few < float64(of), "%v of %d trials are not few", few, of))
	if c.Load.Find {
		return err
	}
	return first(err, within("the trials with most of the tail", k.m["few"], float64(s.most(low)), float64(s.most(high))),
		is("the trials", k.m["of"], float64(of)))
}

// shareIs checks one cause's share.
func (k *check) shareIs(c *cell, cause, stated string) error {
	s := c.tailOf(k.threshold(c))
	if !s.hasAny {
		return fmt.Errorf("%s has no slow tail", c.label())
	}
	cause, own := strings.CutSuffix(cause, mostlyGenerator)
	if own && s.agents < s.foreign {
		return fmt.Errorf("the agents used %.1f CPU seconds beside others, and these %.1f", s.agents, s.foreign)
	}
	low, high := s.ends(cause)
	if c.Load.Find { // a few requests
		low, high = low-0.25, high+0.25
	}
	return within("the share of "+cause+" in the tail of "+c.label(), stated, 100*(low-slack), 100*(high+slack))
}

const mostlyGenerator = " (mostly Millicore's own generator)"

// threshold is the latency from which a request belongs to the tail.
func (k *check) threshold(c *cell) float64 {
	q := "p99"
	if c.objective != nil && c.objective.Quantile == "p999" {
		q = "p999"
	}
	if !c.Load.Find {
		return c.all().ms(q)
	}
	if causes := k.summary.Cells[c.Index].Causes; causes != nil {
		return causes.FromMS
	}
	return 0
}

var shareOfTail = regexp.MustCompile(`^([<>]?[\d.]+%) (.+)$`)

// line checks what a tail is made of: shares of at most 100% together, each possible,
// and the largest the one of the construction.
func line(k *check) error {
	total, largest, main := 0.0, 0.0, ""
	for _, one := range strings.Split(k.m["parts"], ", ") {
		m := shareOfTail.FindStringSubmatch(one)
		if m == nil {
			return fmt.Errorf("%q is no share", one)
		}
		v, _, err := figure(m[1])
		if err != nil {
			return err
		}
		if err := k.shareIs(k.about, m[2], m[1]); err != nil {
			return err
		}
		if v > largest {
			largest, main = v, strings.TrimSuffix(m[2], mostlyGenerator)
		}
		if !strings.HasPrefix(m[1], "<") && !strings.HasPrefix(m[1], ">") {
			total += v
		}
	}
	if total > 101.5 {
		return fmt.Errorf("the shares add up to %.0f%%", total)
	}
	if want := k.truth.Tail; want != "" && largest > 50 && main != tailWords[want] {
		return fmt.Errorf("the tail is mostly %s; by construction it is %s", main, tailWords[want])
	}
	return nil
}

var tailWords = map[string]string{"generator": "waiting in the generator", "throttling": "throttling", "dependency": "the dependency",
	"restart": "restarts and memory pressure", "neighbours": "CPU used by others", "rest": "queueing and work"}

// notThrottling checks "not throttling: no known cause explains a fifth": no other cause has a fifth,
// and what is not explained is the service's own by construction.
func (k *check) notThrottling(cells []*cell) error {
	for _, c := range cells {
		s := c.tailOf(k.threshold(c))
		for _, cause := range []string{"waiting in the generator", "throttling"} {
			if low, _ := s.ends(cause); low > 0.2+slack {
				return fmt.Errorf("%.0f%% of the tail of %s is %s", 100*low, c.label(), cause)
			}
		}
	}
	if want := k.truth.Tail; want != "" && want != "rest" {
		return fmt.Errorf("by construction the tail is %s", tailWords[want])
	}
	return nil
}

// cause checks "Throttling explains 92% of the slow tail of x and 0% of that of y".
func cause(k *check) error {
	word := k.m["cause"]
	if !strings.HasPrefix(word, "CPU used by others") {
		word = strings.ToLower(word[:1]) + word[1:]
	}
	c := k.about
	if k.has("cell") {
		c = k.named(k.m["cell"])
	}
	err := k.shareIs(c, word, k.m["share"])
	if k.has("few") {
		err = first(err, k.mostIn(c))
	}
	if k.has("cell2") {
		err = first(err, k.shareIs(k.named(k.m["cell2"]), word, k.m["share2"]))
	}
	return err
}

var tails = []pattern{
	{"headline", `Its slow tail is not throttling: no known cause explains a fifth of it`, func(k *check) error { return k.notThrottling([]*cell{k.about}) }},
	{"headline", `In no cell is the slow tail throttling: no known cause explains a fifth of it`, func(k *check) error { return k.notThrottling(k.withTrials()) }},
	{"headline", `(?P<cause>Waiting in the generator|Queues after pauses of the generator|Throttling|The dependency|Restarts and memory pressure|CPU used by others(?: \(mostly Millicore's own generator\))?|Queueing and work) explains? <pct:share> of (?:its slow tail|the slow tail) \(p[\d.]+ and above(?:, mostly of <n:few> of <n:of> trials)?\)(?: of <cell>(?: and <pct:share2> of that of <cell2>)?)?`, cause},
	{"tail", `(?P<parts>[<>]?[\d.]+% .+)`, line},
	{"basis", `about <n:requests> requests? at or above (?P<q>p[\d.]+) \(<ms:from>\), mean <ms:mean>`, func(k *check) error {
		s := k.about.tailOf(k.threshold(k.about))
		if !s.hasAny {
			return fmt.Errorf("it has no slow tail")
		}
		mean, few := s.latency/s.requests, 1.02
		if k.about.Load.Find {
			few = 1.3 // of a few requests, and perhaps of other tests
		}
		err := within("the mean of the tail", k.m["mean"], mean/few, mean*few)
		if !k.about.Load.Find {
			err = first(is("its threshold", k.m["from"], k.about.all().ms(k.m["q"])), err)
			_, high := s.mostly()
			if few := s.most(high); s.requests >= 20 && 2*few < len(k.about.trials) && !strings.Contains(k.whole, "mostly of") {
				err = first(err, fmt.Errorf("%d of %d trials have most of it, which it does not state", few, len(k.about.trials)))
			}
		}
		return err
	}},
	{"basis", `mostly of <n:few> of <n:of> trials`, func(k *check) error { return k.mostIn(k.about) }},
	{"basis", `throttling: <pct:direct> while throttled, <pct:queues> in queues that throttling caused`, func(k *check) error {
		s := k.about.tailOf(k.threshold(k.about))
		share := 100 * s.throttled / s.latency
		few := 2.0
		if k.about.Load.Find {
			few = 30
		}
		return within("the time while throttled", k.m["direct"], share-few, share+few)
	}},
}
