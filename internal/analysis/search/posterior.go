package search

import (
	"math"
	"slices"
)

// posterior is how probable each breaking point is: cells in ln(load), of different
// widths.
type posterior struct {
	edges []float64 // ln(load), one more than cells
	cells []float64 // probability; they sum to 1
	fits  float64   // ln of how probable the looks are, up to a constant
}

const (
	// even is the number of cells before the loads that were tried divide them.
	even = 64
	// negligible is a probability, in ln, that sums leave out.
	negligible = -16
)

// between computes the posterior for breaking points between two loads: first over all
// of them, then again with narrow cells where the probability is.
func (c *curve) between(low, high float64, a account) posterior {
	all := c.on(c.edges(math.Log(low), math.Log(high)), a)
	first, last := all.holding(1e-4)
	return c.on(c.edges(first, last), a)
}

// edges divides the range between two loads, given as ln, into cells: evenly, at each
// load that was tried, and between them, because the service may break anywhere
// between two loads, however close.
func (c *curve) edges(low, high float64) []float64 {
	edges := make([]float64, 0, even+1+2*len(c.looks))
	for i := range even + 1 {
		edges = append(edges, low+(high-low)*float64(i)/even)
	}
	looked := make([]float64, 0, len(c.looks))
	for _, l := range c.looks {
		looked = append(looked, math.Log(l.load))
	}
	slices.Sort(looked)
	for i, x := range looked {
		edges = append(edges, x)
		if i > 0 {
			edges = append(edges, (x+looked[i-1])/2)
		}
	}
	edges = slices.DeleteFunc(edges, func(x float64) bool { return x < low || x > high })
	slices.Sort(edges)
	return slices.CompactFunc(edges, func(a, b float64) bool { return math.Abs(b-a) < 1e-6 })
}

// on computes the posterior on cells with these edges: for each floor, cell, steepness
// and memory the prior and all looks, and then the sum over all but the cells.
func (c *curve) on(edges []float64, a account) posterior {
	capacity := a.of(c.looks)
	p := posterior{edges: edges, cells: make([]float64, len(edges)-1)}
	each := len(steepnesses) * len(memories)
	logs := make([]float64, len(c.floors)*len(p.cells)*each)
	most, next := math.Inf(-1), logs
	for floor := range c.floors {
		for i := range p.cells {
			breaking := math.Exp((edges[i] + edges[i+1]) / 2)
			for _, steepness := range steepnesses {
				to := next[:len(memories)]
				next = next[len(memories):]
				c.prior(breaking, steepness, to)
				for i, l := range c.looks {
					c.add(l, floor, breaking*capacity[i], steepness, to)
				}
				most = max(most, slices.Max(to))
			}
		}
	}
	sum := 0.0
	for i, v := range logs {
		if v-most > negligible {
			cell := i / each % len(p.cells)
			v = math.Exp(v-most) * (edges[cell+1] - edges[cell])
			p.cells[cell] += v
			sum += v
		}
	}
	for i := range p.cells {
		p.cells[i] /= sum
	}
	p.fits = most + math.Log(sum/float64(len(c.floors)))
	return p
}

// holding returns the edges between which all but a little probability lies, with one
// more cell on each side.
func (p posterior) holding(little float64) (low, high float64) {
	first, last := 0, len(p.cells)-1
	for sum := p.cells[first]; sum < little && first < last; sum += p.cells[first] {
		first++
	}
	for sum := p.cells[last]; sum < little && last > first; sum += p.cells[last] {
		last--
	}
	return p.edges[max(first-1, 0)], p.edges[min(last+2, len(p.edges)-1)]
}

// quantile is the ln(load) below which the breaking point lies with probability q.
func (p posterior) quantile(q float64) float64 {
	sum := 0.0
	for i, v := range p.cells {
		if v > 0 && sum+v >= q {
			return p.edges[i] + (p.edges[i+1]-p.edges[i])*(q-sum)/v
		}
		sum += v
	}
	return p.edges[len(p.edges)-1]
}

// above is the probability that the breaking point lies above an ln(load).
func (p posterior) above(x float64) float64 {
	sum := 0.0
	for i, v := range p.cells {
		part := (p.edges[i+1] - x) / (p.edges[i+1] - p.edges[i])
		sum += v * min(max(part, 0), 1)
	}
	return sum
}

// quantile is that of the lowest of several breaking points, as a load: a service
// breaks where the first part of its objective is missed. A failed request is late,
// too, so errors move both parts together and their windows are not independent. The
// probability that both lie above a load is approximated by that of the less likely
// one.
func quantile(ps []posterior, q float64) float64 {
	if len(ps) == 1 {
		return math.Exp(ps[0].quantile(q))
	}
	low, high := math.Inf(1), math.Inf(1)
	for _, p := range ps {
		low, high = min(low, p.edges[0]), min(high, p.edges[len(p.edges)-1])
	}
	for range 50 {
		middle, above := (low+high)/2, 1.0
		for _, p := range ps {
			above = min(above, p.above(middle))
		}
		if above > 1-q {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp(low)
}
