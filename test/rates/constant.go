package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/analysis/causes"
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/show/answer"
	"github.com/millicore/millicore/internal/show/narrative"
	"github.com/millicore/millicore/test/corpus"
)

// seconds are measured in a trial under a constant load.
const seconds = 15

// unsettled counts the cells of steady services; it is false of those that are said not to
// have settled.
const unsettled = "not settled, of steady services"

// constant draws a service of a kind at 40 to 95% of what it can do, and judges what the
// summary states about its slow tail and its objective.
func constant(k kind, seed uint64) ([]said, error) {
	r := k.random(seed, 4)
	s := k.draw(r)
	load := math.Round(s.capacity * uniform(r, 0.4, 0.95))
	b := s.behaviour
	if r.IntN(6) == 0 {
		for at := time.Second; at < time.Minute; at += 2 * time.Second {
			b.Stalls = append(b.Stalls, corpus.Stretch{From: at, To: at + millis(uniform(r, 10, 60))})
		}
		s.text += "; the generator stalls"
	}
	sd := pick(r, 0, 0.05)
	make := func(wanted string) (corpus.Case, *experiment.Experiment, error) {
		c := corpus.Case{Name: k.name, File: fmt.Sprintf(
			"name: %s\n%s%sload: {request: {path: /}, rate: %g}\nobjective: {%s}\nmeasure: {warmup: 1s, duration: %ds, repeats: %d, interval: 500ms}\n",
			k.name, alone, s.limits(), load, wanted, seconds, repeats),
			Behaves: func(_ *experiment.Cell, repeat int) corpus.Behaviour { return start(b, sd, seed, repeat) }}
		e, err := file.Parse("x.yaml", []byte(c.File), nil)
		return c, e, err
	}
	_, e, err := make("p99: 100ms")
	if err != nil {
		return nil, err
	}
	within := spread(r, 0.75, 1.33)
	known := cached("constant", k, seed, func() tail { return s.tail(b, sd, &e.Cells[0], load, within, seed) })
	wanted := fmt.Sprintf("p99: %.0fus", 1000*known.P99*within)
	if s.available > 0 {
		wanted += ", availability: " + strconv.FormatFloat(s.available, 'g', -1, 64)
	}
	c, e, err := make(wanted)
	if err != nil {
		return nil, err
	}
	sum, err := summarize(&c, seed)
	if err != nil {
		return nil, err
	}
	j := judge{kind: k, seed: seed, text: fmt.Sprintf("constant: %s, limit %g, at %.0f%%", s.text, s.limit, 100*load/s.capacity)}
	cell := &sum.Cells[0]
	if !s.moves && !s.others && len(b.Stalls) == 0 && millis(known.P99*within) < e.Cells[0].Load.Timeout {
		allowed := objective.Of(e, &e.Cells[0]).Allowed()
		meets := known.Late <= orAny(allowed.AllowedLate) && known.Bad <= orAny(allowed.AllowedBad)
		text := fmt.Sprintf("%.3f%% late, %.3f%% bad in the long run; %s", 100*known.Late, 100*known.Bad, wanted)
		outcome := cell.Objective.Outcome
		switch outcome {
		case summary.Met:
			j.say(k.in("meets its objective"), !meets, "%s", text)
		case summary.Missed:
			j.say(k.in("misses its objective"), meets, "%s", text)
		}
		j.say(k.in(silence+"meets or misses, not too close to tell"), outcome != summary.Met && outcome != summary.Missed, "%s", text)
	}
	switch flagged := cell.Has(summary.FlagUnsteady); {
	case s.moves && !s.drifts:
		j.say(silence+"not settled, where it warms up or leaks", !flagged, "")
	case !s.moves && !s.others:
		j.say(unsettled, flagged, "")
	}
	if cell.Causes == nil {
		return j.all, nil
	}
	of := known.Of
	if why := answer.Of(sum).Why; strings.HasPrefix(why, "it waits:") || strings.HasPrefix(why, "not its CPU limit") {
		j.say(k.in("why: not its CPU limit"), of["throttling"] >= 0.2, "%s", why)
	}
	top, divided := narrative.MainPart(cell.Causes)
	stated := divided && top.Name != "rest" && top.Value >= 0.2
	truth := fmt.Sprintf("with the extra time of %.0f%%, stated %.0f%%", 100*of[top.Name], 100*top.Value)
	switch {
	case causes.GeneratorsTail(cell):
		j.say(k.in("why: the generator"), of["generator"] < 0.1, "%s", truth)
	case stated:
		j.say(k.in("why: "+top.Name), of[top.Name] < 0.1, "%s", truth)
	}
	if c := cell.Causes; c.Divided() && s.limit > 0 {
		low, high, extra := c.Throttling, c.ThrottlingHigh, of["throttling"]
		same := known.Same["throttling"]
		text := fmt.Sprintf("stated %.0f to %.0f%%, extra time %.0f%%, of the same requests %.0f%%", 100*low, 100*high, 100*extra, 100*same)
		j.say(k.in("throttling: the extra time of the tail, to 10 points"), extra < low-0.1 || extra > high+0.1, "%s", text)
		j.say(k.in("throttling: the extra time of the same requests, to 10 points"), same < low-0.1 || same > high+0.1, "%s", text)
		j.say(k.in("throttling: the extra time by one of the two"), max(same, extra) < low-0.1 || min(same, extra) > high+0.1, "%s", text)
		j.say(k.in(silence+"share of throttling, at most 25 points wide"), high-low > 0.25, "%s", text)
		if extra > 0.02 {
			j.say(k.in(silence+"share of throttling, at most 25 points wide, of those above 2%"), high-low > 0.25, "%s", text)
		}
	}
	alone := 0
	for name, v := range of {
		if name != "generator_queue" && v >= 0.5 {
			alone++
		}
	}
	if alone == 1 && !s.moves {
		j.say(k.in(cause+" of a slow tail"), !stated && !causes.GeneratorsTail(cell), "extra time: %v", of)
	}
	return j.all, nil
}

// tail is the truth about the slow tail of a record.
type tail struct {
	P99       float64 // ms, in the long run
	Late, Bad float64 // shares, by the objective, in the long run
	// Of has the shares of the tail's mean that are gone without a cause, with the same
	// arrivals and the same work. Same has those of the time of the same requests.
	Of, Same map[string]float64
}

const (
	repeats = 4
	// placed is how many trials of the long run place the objective. It has as many again,
	// and up to longest until it is decided.
	placed, longest = 8, 48
)

// tail finds it for the record of a seed, and an objective that is p99 times a factor. The
// long run has other arrivals.
func (s service) tail(b corpus.Behaviour, sd float64, c *experiment.Cell, load, within float64, seed uint64) tail {
	known := tail{Of: map[string]float64{}, Same: map[string]float64{}}
	var trials []total
	all := signals.NewHistogram()
	for i := range placed {
		trials = append(trials, measured(start(b, sd, seed+1, i+1), c, load, seed+1, i+1))
		all.Merge(trials[i].latencies)
	}
	_, known.P99 = tailOf(all, 0.99)
	limit, allowedBad := millis(known.P99*within), -1.0
	if s.available > 0 {
		allowedBad = 1 - s.available/100
	}
	var late, bad moments
	for i := range longest {
		if i >= placed {
			trials = append(trials, measured(start(b, sd, seed+1, i+1), c, load, seed+1, i+1))
		}
		one := trials[i]
		failed := one.failed + one.timeouts
		late.add(float64(one.latencies.Late(limit, c.Load.Timeout, failed, one.timeouts)) / one.requests())
		bad.add(float64(failed) / one.requests())
		if i+1 >= 2*placed && math.Abs(late.from(0.01)) > 4 && (allowedBad < 0 || math.Abs(bad.from(allowedBad)) > 4) {
			break
		}
	}
	known.Late, known.Bad = late.mean(), bad.mean()
	with := s.trials(b, sd, c, load, seed)
	gone := func(what string, change func(*corpus.Behaviour)) {
		other := b
		change(&other)
		known.Of[what], known.Same[what] = missing(with, s.trials(other, sd, c, load, seed))
	}
	if s.limit > 0 {
		gone("throttling", func(b *corpus.Behaviour) { b.Unlimited = true })
	}
	if b.Service.Reports {
		gone("dependency", func(b *corpus.Behaviour) { b.Service.Call = nil })
	}
	if s.others {
		gone("neighbours", func(b *corpus.Behaviour) { b.Foreign, b.Steal = nil, nil })
	}
	if len(b.Stalls) > 0 {
		gone("generator", func(b *corpus.Behaviour) { b.Stalls = nil })
		known.Of["generator_queue"] = known.Of["generator"]
	}
	return known
}

// trials are those of the record of a seed.
func (s service) trials(b corpus.Behaviour, sd float64, c *experiment.Cell, load float64, seed uint64) (all []total) {
	for i := range repeats {
		all = append(all, measured(start(b, sd, seed, i+1), c, load, seed, i+1))
	}
	return all
}

// missing is which share of the time of a slow tail is gone without a cause: by the means of
// the slowest 1% of the requests with and without it, and of the same requests.
func missing(with, without []total) (ofTail, ofSame float64) {
	all, other := signals.NewHistogram(), signals.NewHistogram()
	for i := range with {
		all.Merge(with[i].latencies)
		other.Merge(without[i].latencies)
	}
	mean, from := tailOf(all, 0.99)
	less, _ := tailOf(other, 0.99)
	from *= 0.998 // it is the upper end of a bucket
	var took, extra float64
	for i := range with {
		for number, latency := range with[i].by {
			if v, ok := without[i].by[number]; ok && latency >= millis(from) {
				took += float64(latency)
				extra += float64(latency - v)
			}
		}
	}
	return max(0, 1-less/mean), max(0, extra/max(took, 1))
}

// start is a service as it starts: its work differs by a factor from start to start.
func start(b corpus.Behaviour, sd float64, seed uint64, repeat int) corpus.Behaviour {
	if sd > 0 {
		r := rand.New(rand.NewPCG(seed, uint64(1000+repeat)))
		factor, work := math.Exp(sd*r.NormFloat64()), b.Service.Work
		b.Service.Work = func(r *rand.Rand) time.Duration { return time.Duration(factor*float64(work(r))) + 1 }
	}
	return b
}

// total is what a trial of a service gave.
type total struct {
	latencies        *signals.Histogram
	timeouts, failed int64
	by               map[int64]time.Duration // latencies by request
}

func (t total) requests() float64 { return float64(max(1, t.latencies.Count()+t.failed)) }

// measured is a trial as the record of a seed has it, without a record.
func measured(b corpus.Behaviour, c *experiment.Cell, load float64, seed uint64, number int) total {
	t := total{latencies: signals.NewHistogram(), by: map[int64]time.Duration{}}
	for _, r := range corpus.NewSteady(b, c, load, seed, number).Measured(time.Second, seconds*time.Second) {
		switch {
		case r.TimedOut:
			t.timeouts++
		case !r.Good:
			t.failed++
			continue
		}
		t.latencies.Record(r.Latency)
		t.by[r.Number] = r.Latency
	}
	return t
}
