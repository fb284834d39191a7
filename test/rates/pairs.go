package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/test/corpus"
)

// pairs draws two cells that are alike, or of which B is slower, with equal and unequal
// numbers of trials and spreads between starts, and judges their order.
func pairs(k kind, seed uint64) ([]said, error) {
	r := k.random(seed, 5)
	s := k.draw(r)
	load := math.Min(300, math.Round(s.capacity*uniform(r, 0.3, 0.6)))
	slower := pick(r, 1, 1, 1.2, 1.5)
	n := [2]int{pick(r, 4, 6, 12), pick(r, 4, 6, 12)}
	sd := [2]float64{0.02, 0.02 * pick(r, 1.0, 1, 3, 10)}
	if r.IntN(2) == 0 {
		n[1], sd[1] = n[0], sd[0]
	}
	c := corpus.Case{Name: k.name, File: fmt.Sprintf(
		"name: %s\n%s%sload: {request: {path: /}, rate: %g}\nmeasure: {warmup: 1s, duration: 5s, repeats: %d, interval: 500ms}\n",
		k.name, pair, s.limits(), load, max(n[0], n[1])),
		NoStart: func(c *experiment.Cell, repeat int) bool { return repeat > n[c.Index] },
		Behaves: func(c *experiment.Cell, repeat int) corpus.Behaviour {
			b := start(s.behaviour, sd[c.Index], seed+uint64(c.Index), repeat)
			if c.Index == 1 {
				work := b.Service.Work
				b.Service.Work = func(r *rand.Rand) time.Duration { return time.Duration(slower * float64(work(r))) }
			}
			return b
		}}
	sum, err := summarize(&c, seed)
	if err != nil {
		return nil, err
	}
	j := judge{kind: k, seed: seed, text: fmt.Sprintf("pairs: %s, limit %g, at %.0f%%, B %.1f times the work, %v trials, spreads %v", s.text, s.limit, 100*load/s.capacity, slower, n, sd)}
	for _, e := range sum.Ranking {
		if e.Basis == summary.Untested {
			continue
		}
		sign := e.Sign // of e.Cell against e.Other
		if e.Cell == 0 {
			sign = -sign
		}
		rank := "lowest p99"
		if n[0] != n[1] {
			rank += ", unequal numbers of trials"
		}
		text := fmt.Sprintf("B is %+d, p %.3g", sign, e.PFamily)
		if sign != 0 {
			j.say(rank, slower == 1 || sign < 0, "%s", text)
		} else {
			d := distance(&sum.Cells[0], &sum.Cells[1])
			j.say("no significant difference", slower > 1 && min(n[0], n[1]) >= 6 && d > 3, "%s, %.1f standard deviations", text, d)
		}
		if slower == 1 {
			j.say("lowest p99, of two cells that are alike", sign != 0, "%s", text)
		} else {
			j.say(silence+"lowest p99, of two cells of which one has 1.2 or 1.5 times the work", sign <= 0, "%s", text)
		}
	}
	for i := range sum.Cells {
		if !s.moves && !s.others {
			j.say(unsettled, sum.Cells[i].Has(summary.FlagUnsteady), "cell %d", i)
		}
	}
	return j.all, nil
}

// distance is how many standard deviations of their trials two cells are apart, by the
// logarithm of p99.
func distance(a, b *summary.Cell) float64 {
	one, other := spreadOf(a), spreadOf(b)
	return (other[0] - one[0]) / math.Sqrt((one[1]+other[1])/2)
}

func spreadOf(c *summary.Cell) [2]float64 {
	var m moments
	for _, t := range c.PerTrial {
		if t.P99 != nil {
			m.add(math.Log(*t.P99))
		}
	}
	return [2]float64{m.mean(), (m.squares/m.n - m.mean()*m.mean()) * m.n / (m.n - 1)}
}
