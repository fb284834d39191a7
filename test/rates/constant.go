package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/millicore/millicore/internal/analysis/causes"
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/show/narrative"
	"github.com/millicore/millicore/test/corpus"
)

// seconds are measured in a trial under a constant load.
const seconds = 15

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
			"name: %s\n%s%sload: {request: {path: /}, rate: %g}\nobjective: {%s}\nmeasure: {warmup: 1s, duration: %ds, repeats: 4, interval: 500ms}\n",
			k.name, alone, s.limits(), load, wanted, seconds),
			Behaves: func(_ *experiment.Cell, repeat int) corpus.Behaviour { return start(b, sd, seed, repeat) }}
		e, err := file.Parse("x.yaml", []byte(c.File), nil)
		return c, e, err
	}
	_, e, err := make("p99: 100ms")
	if err != nil {
		return nil, err
	}
	within := spread(r, 0.75, 1.33)
	known := cached("constant", k, seed, func() tail { return s.tail(b, sd, &e.Cells[0], load, within, seed+1) })
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
	if !s.moves && !s.others && len(b.Stalls) == 0 {
		allowed := objective.Of(e, &e.Cells[0]).Allowed()
		meets := known.Late <= orAny(allowed.AllowedLate) && known.Bad <= orAny(allowed.AllowedBad)
		text := fmt.Sprintf("%.3f%% late, %.3f%% bad in the long run; %s", 100*known.Late, 100*known.Bad, wanted)
		switch cell.Objective.Outcome {
		case summary.Met:
			j.say("meets its objective", !meets, "%s", text)
		case summary.Missed:
			j.say("misses its objective", meets, "%s", text)
		case summary.TooClose:
			j.say("too close to tell", false, "")
		}
	}
	if cell.Has(summary.FlagUnsteady) {
		j.say("has not settled", !s.moves && !s.others, "")
	} else {
		j.say("~not settled, where it moves", false, "")
	}
	if cell.Causes == nil {
		return j.all, nil
	}
	of := known.Of
	top, divided := narrative.MainPart(cell.Causes)
	stated := divided && top.Name != "rest" && top.Value >= 0.2
	truth := fmt.Sprintf("with the extra time of %.0f%%, stated %.0f%%", 100*of[top.Name], 100*top.Value)
	switch {
	case causes.GeneratorsTail(cell):
		j.say("why: the generator", of["generator"] < 0.2, "%s", truth)
	case stated:
		j.say("why: "+top.Name, of[top.Name] < 0.2, "%s", truth)
	}
	if c := cell.Causes; c.Divided() && s.limit > 0 {
		low, high, extra := c.Throttling, c.ThrottlingHigh, of["throttling"]
		text := fmt.Sprintf("stated %.0f to %.0f%%, extra time %.0f%%", 100*low, 100*high, 100*extra)
		j.say("share of throttling, to 10 points", extra < low-0.1 || extra > high+0.1, "%s", text)
		j.say("~share of throttling, to 25 points", high-low > 0.25, "%s", text)
	}
	alone := 0
	for name, v := range of {
		if name != "generator_queue" && v >= 0.5 {
			alone++
		}
	}
	if alone == 1 && !s.moves {
		j.say(cause+" of a slow tail", !stated && !causes.GeneratorsTail(cell), "extra time: %v", of)
	}
	return j.all, nil
}

// tail is the truth about the slow tail of trials as the record has them.
type tail struct {
	P99       float64 // ms
	Late, Bad float64 // shares, by the objective
	// Of has the shares of the tail's mean that are gone without a cause.
	Of map[string]float64
}

// tail finds it for an objective that is p99 times a factor.
func (s service) tail(b corpus.Behaviour, sd float64, c *experiment.Cell, load, within float64, seed uint64) tail {
	with := many(b, sd, c, load, seed)
	mean, p99 := tailOf(with.latencies, 0.99)
	known := tail{P99: p99, Of: map[string]float64{}}
	known.Late = float64(with.latencies.Above(millis(p99*within))+with.failed) / with.requests
	known.Bad = float64(with.failed+with.timeouts) / with.requests
	gone := func(what string, change func(*corpus.Behaviour)) {
		other := b
		change(&other)
		without, _ := tailOf(many(other, sd, c, load, seed).latencies, 0.99)
		known.Of[what] = max(0, 1-without/mean)
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

// start is a service as it starts: its work differs by a factor from start to start.
func start(b corpus.Behaviour, sd float64, seed uint64, repeat int) corpus.Behaviour {
	if sd > 0 {
		r := rand.New(rand.NewPCG(seed, uint64(1000+repeat)))
		factor, work := math.Exp(sd*r.NormFloat64()), b.Service.Work
		b.Service.Work = func(r *rand.Rand) time.Duration { return time.Duration(factor*float64(work(r))) + 1 }
	}
	return b
}

// total is what many trials of a service gave.
type total struct {
	latencies        *signals.Histogram
	timeouts, failed int64
	requests         float64
}

// many are 24 trials as the record has four.
func many(b corpus.Behaviour, sd float64, c *experiment.Cell, load float64, seed uint64) total {
	t := total{latencies: signals.NewHistogram()}
	for i := range 24 {
		s := corpus.NewSteady(start(b, sd, seed, i), c, load, seed+uint64(1000*i))
		s.For(time.Second)
		h, timeouts, failed := s.For(seconds * time.Second)
		t.latencies.Merge(h)
		t.timeouts, t.failed = t.timeouts+timeouts, t.failed+failed
	}
	t.requests = float64(t.latencies.Count() + t.failed)
	return t
}
