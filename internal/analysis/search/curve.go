package search

import (
	"math"
	"slices"
)

// curve is what the windows show about one part of the objective: which share of the
// requests fails it (is late, or has no good answer) at which load, and so at which
// load the share crosses the allowed one.
//
// The model has three unknowns. At the breaking point B the share is the allowed one;
// from there its odds grow with the load x:
//
//	ln(odds) = ln(odds allowed) + steepness * (x/B - 1)
//
// This is the shape of a queue whose waiting times have an exponential tail, like
// M/M/1, where P(later than T) = exp(-(mu - x) T). It holds near the breaking point.
// Farther away the model is less certain (see doubt), and above trusted odds it only
// requires that many requests fail.
//
// Requests do not fail independently: a burst or a throttled period delays all
// requests around it. So a window of W seconds has at most about W/memory independent
// looks, and its failures are beta-binomial: their share is drawn from a beta
// distribution with precision W/memory, and each request fails with that share. The
// memory, in seconds, is the third unknown. Each window counts according to its
// weight; a strict yes or no would discard most of its information.
//
// The three are probabilities on a grid (Bayes' rule), so uncertainty about steepness
// and memory widens the interval of B.
type curve struct {
	allowed float64   // share of requests, between 0 and 1
	latency float64   // of the objective, s; 0: unknown, or irrelevant here
	users   bool      // loads are users, not requests/s
	every   float64   // s between pauses of the service; 0: it has none
	floors  []float64 // shares that may fail at any load, equally likely
	looks   []*look
}

// look is one window as a curve sees it.
type look struct {
	load   float64
	n, k   float64 // requests, and how many of them failed
	window float64 // s
	at     float64 // s since the search began, of the window's middle
	held   float64 // s for which this load, or one near it, had been held at the window's end
	single bool    // counts as one look, however long, because it was cut short
	slow   bool    // the window missed the latency
	burst  bool    // some of its blocks met the objective, and others missed it by far
	beside bool    // others took CPU

	likelihood [][]float64 // ln, by floor, and then by distance (rows) and memory
}

var (
	// steepnesses range from odds that grow by half with a tenth more load to a step.
	steepnesses = []float64{4, 8, 16, 32, 64, 128, 256, 512, 1024}
	memories    = []float64{.001, .003, .01, .03, .1, .3, 1, 3, 10} // s

	lnMemories = logs(memories)
)

func logs(values []float64) []float64 {
	all := make([]float64, len(values))
	for i, v := range values {
		all[i] = math.Log(v)
	}
	return all
}

const (
	// lapse is the probability that a window shows something unrelated to the load.
	lapse = 0.01
	// doubt is the standard deviation of the model's ln(odds), as a share of their
	// distance from the allowed ones.
	doubt = 0.3
	// trusted is the distance, in ln(odds), above which a share only counts as "many".
	trusted = 6.0
	// farthest is the lowest distance that is distinguished, and fine the grid's step.
	farthest = -10.0
	fine     = 0.25
	rows     = int((trusted-farthest)/fine) + 1
	// mostFloor is the largest part of the allowed share that may fail at any load.
	mostFloor = 0.8
	// many is enough requests for a window: more do not make a share more precise.
	many = 1e7
)

// burst reports whether some blocks of a window meet the latency, and others miss it by
// far. A queue that grows does that once; a service that pauses, whenever it pauses.
func (c *curve) burst(seen []Block) bool {
	calm, bad := false, false
	for _, b := range seen {
		n, late, failed := b.counts()
		late -= failed
		calm = calm || !Exceeds(late, n, c.allowed)
		bad = bad || Exceeds(late, n, far(c.allowed))
	}
	return calm && bad
}

// saw adds a window.
func (c *curve) saw(l look) {
	if l.n > many {
		l.n, l.k = many, l.k*many/l.n
	}
	c.looks = append(c.looks, &l)
}

// settle estimates the share that fails at any load, because of a collector's pauses
// or a slow endpoint, from the windows at loads up to calm, far below the breaking
// point. With only a few failures the share is known within its noise.
func (c *curve) settle(calm float64) {
	var n, k float64
	for _, l := range c.looks {
		if l.load <= calm {
			n, k = n+l.n, k+l.k
		}
	}
	n = max(n, 1)
	floors := []float64{k / n}
	if k >= 3 { // a gamma distribution of shape k+1, by three points of its mean and deviation
		mean, deviation := (k+1)/n, math.Sqrt(k+1)/n
		floors = []float64{mean - 1.22*deviation, mean, mean + 1.22*deviation}
	}
	for i := range floors {
		floors[i] = min(floors[i], mostFloor*c.allowed)
	}
	if floors = slices.Compact(floors); !slices.Equal(floors, c.floors) {
		for _, l := range c.looks {
			l.likelihood = nil
		}
	}
	c.expect(floors)
}

// expect sets the shares that may fail at any load, and tabulates the looks that are not.
func (c *curve) expect(floors []float64) {
	c.floors = floors
	for _, l := range c.looks {
		if l.likelihood == nil {
			for _, floor := range floors {
				l.likelihood = append(l.likelihood, c.tabulate(l, floor))
			}
		}
	}
}

// share is the share that fails at a distance of ln(odds). If more than the allowed share
// fails at any load, it is as much more at the distance 0.
func (c *curve) share(distance, floor float64) float64 {
	above := c.allowed - floor
	if above <= 0 {
		above = c.allowed
	}
	p := 1 / (1 + math.Exp(-distance)*(1-above)/above)
	return min(max(floor+(1-floor)*p, 1e-9), 1-1e-6)
}

// tabulate computes the likelihood of a look, by distance and memory.
func (c *curve) tabulate(l *look, floor float64) []float64 {
	table := make([]float64, rows*len(memories))
	k := min(l.k, l.n*c.share(trusted, floor)) // less by a lower floor, so the ways to choose them matter
	ways := lgamma(l.n+1) - lgamma(k+1) - lgamma(l.n-k+1)
	unrelated := lapse
	if c.every > 0 && l.burst {
		unrelated = 1 - (1-lapse)*math.Exp(-l.window/c.every)
	}
	wrong := math.Log(unrelated) + betaBinomial(l.n, k, 0.5, 1)
	for row := range rows {
		distance := farthest + float64(row)*fine
		p := c.share(distance, floor)
		for m, memory := range memories {
			perLook := memory / l.window
			if l.single {
				perLook = max(perLook, 1)
			}
			perLook += doubt * doubt * distance * distance * p * (1 - p)
			right := math.Log1p(-unrelated) + betaBinomial(l.n, k, p, 1/perLook)
			table[row*len(memories)+m] = ways + max(right, wrong) + math.Log1p(math.Exp(-math.Abs(right-wrong)))
		}
	}
	return table
}

// betaBinomial is the log probability, without the terms of n and k alone, that k of n
// fail if the share of failures is drawn from a beta distribution with mean p and
// precision m: from m = 0, all or none, to the binomial distribution at infinity.
func betaBinomial(n, k, p, m float64) float64 {
	a, b := p*m, (1-p)*m
	return lgamma(k+a) - lgamma(a) + lgamma(n-k+b) - lgamma(b) - lgamma(n+m) + lgamma(m)
}

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// add adds to the log probability of each memory that of a look, for a given breaking
// point and steepness.
//
// A service slightly above its capacity is late only when its queue is as long as the
// objective's latency: at a load of 1+u capacities, after latency/u. Until then a
// window shows nothing. So a look is compared with the curve as it is, and with the
// curve moved up by what a queue could hide in the time that the load was held. The
// better match counts.
func (c *curve) add(l *look, floor int, breaking, steepness float64, to []float64) {
	table := l.likelihood[floor]
	distance := steepness * (l.load/breaking - 1)
	a0, a1, f := at(table, distance)
	hidden := hides * c.latency / l.held
	moved := steepness * (l.load/(breaking*(1+hidden)) - 1)
	if hidden == 0 || distance <= farthest || moved >= trusted {
		for m := range to {
			to[m] += a0[m] + f*(a1[m]-a0[m])
		}
		return
	}
	b0, b1, g := at(table, moved)
	for m := range to {
		to[m] += max(a0[m]+f*(a1[m]-a0[m]), b0[m]+g*(b1[m]-b0[m]))
	}
}

// hides is how much queue, in units of its latency, a service can hide.
const hides = 1.0

// at returns the rows of a table around a distance, and the position between them.
func at(table []float64, distance float64) (below, above []float64, part float64) {
	row := (min(max(distance, farthest), trusted-1e-9) - farthest) / fine
	first, n := int(row), len(memories)
	return table[first*n:][:n], table[(first+1)*n:][:n], row - float64(first)
}

// prior is the log probability of a steepness and the memories before any window, for
// a given breaking point, up to a constant.
//
// For a queue under heavy load, by its diffusion approximation (W. Whitt, "Planning
// Queueing Simulations", Management Science 35, 1989), the tail of the waiting time is
// exp(-2 T slack / v), where v is the variance of the work that arrives in a second.
// The steepness is then one to two times the number of requests that arrive within T.
// The memory is twice the relaxation time, 8 steepness T / ln(allowed)^2. Both have a
// wide margin, since services are more than queues.
func (c *curve) prior(breaking, steepness float64, to []float64) {
	base, memory := 0.0, usualMemory
	if c.latency > 0 && !c.users {
		off := math.Log(steepness/(1.5*breaking*c.latency)) / margin
		base = -math.Log1p(off * off)
		tail := math.Log(c.allowed)
		memory = 8 * steepness * c.latency / (tail * tail)
	}
	lnMemory := math.Log(memory)
	for m := range to {
		off := (lnMemories[m] - lnMemory) / margin
		to[m] = base - off*off/2
	}
}

const (
	margin      = 1.5  // standard deviation of ln
	usualMemory = 0.03 // s, without a latency objective
)

// mayDepend is twice the gain in ln(likelihood), by two shares instead of one, from which
// failures depend on the load: the 99% quantile of chi-square with two degrees of freedom,
// the second share and the load that divides the windows.
const mayDepend = 9.2

// constant returns how many requests fail, of how many, and whether one share explains the
// windows below a load and those from it on. Then no load is a breaking point. Windows that
// missed the latency are left out: they fail because of the load.
func (c *curve) constant(at float64) (failed, all float64, constant bool) {
	k, n := c.divided(at)
	if n[0] == 0 || n[1] == 0 {
		return 0, 0, false
	}
	failed, all = k[0]+k[1], n[0]+n[1]
	share := failed / all
	gain := 0.0
	for side := range k {
		gain += bernoulli(n[side], k[side], k[side]/n[side]) - bernoulli(n[side], k[side], share)
	}
	return failed, all, 2*gain < mayDepend
}

// more reports whether more than a share fail in the windows that missed the latency.
func (c *curve) more(share float64) bool {
	k, n := 0.0, 0.0
	for _, l := range c.looks {
		if l.slow {
			k, n = k+l.k, n+l.n
		}
	}
	return k > share*n && 2*(bernoulli(n, k, k/n)-bernoulli(n, k, share)) >= mayDepend
}

// divided counts the requests, and those that failed, of the windows that met the latency:
// below a load, and from it on.
func (c *curve) divided(at float64) (k, n [2]float64) {
	for _, l := range c.looks {
		side := 0
		if l.load >= at {
			side = 1
		}
		if !l.slow {
			k[side], n[side] = k[side]+l.k, n[side]+l.n
		}
	}
	return k, n
}

// bernoulli is the log probability that k given ones of n fail, each with probability p.
func bernoulli(n, k, p float64) float64 {
	all := 0.0
	if k > 0 {
		all += k * math.Log(p)
	}
	if k < n {
		all += (n - k) * math.Log1p(-p)
	}
	return all
}
