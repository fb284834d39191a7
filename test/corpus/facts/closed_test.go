package facts

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// draws is how often the distribution of the test of a set is drawn.
const draws = 5000

// closed is the P of the difference of samples x and y among others, by closed testing
// with Ryan's levels (docs/statistics.md): the largest P of all sets that have both. It
// is written from the description, not from package stats.
func closed(samples [][]float64, x, y int) float64 {
	k, worst := len(samples), 0.0
	known := map[string][][]float64{}
	for set := range 1 << k {
		if set>>x&1 == 0 || set>>y&1 == 0 {
			continue
		}
		var in [][]float64
		for i := range k {
			if set>>i&1 == 1 {
				in = append(in, samples[i])
			}
		}
		pairs := 1.0
		for i := range in {
			for j := range i {
				p, _ := differ(in[i], in[j])
				pairs = min(pairs, p)
			}
		}
		p := pairs
		if s := len(in); s > 2 {
			p = min(1, 2*min(pairs*float64(s*(s-1))/2, divided(in, known)))
		}
		if s := len(in); s < k-1 {
			p = 1 - math.Pow(1-p, float64(k)/float64(s))
		}
		worst = max(worst, p)
	}
	return worst
}

// divided tests whether samples are alike: they are ordered by their mean ranks and
// parted at each place, and the smallest P of these partings is compared with those of
// random orders. As many values of each count as the shortest sample has.
func divided(in [][]float64, known map[string][][]float64) float64 {
	sizes, shortest := make([]int, len(in)), len(slices.MinFunc(in, func(a, b []float64) int { return len(a) - len(b) }))
	var all []float64
	for i, s := range in {
		sizes[i], all = shortest, append(all, s[:shortest]...)
	}
	ranks := make([]float64, len(all))
	for i, v := range all { // mean ranks of ties
		for _, w := range all {
			if w < v {
				ranks[i]++
			} else if w == v {
				ranks[i] += 0.5
			}
		}
	}
	key := fmt.Sprint(sizes)
	random := known[key]
	if random == nil {
		rng := rand.New(rand.NewPCG(19, uint64(len(all))))
		places := make([]float64, len(all))
		for i := range places {
			places[i] = float64(i) + 0.5
		}
		for range draws {
			rng.Shuffle(len(places), func(a, b int) { places[a], places[b] = places[b], places[a] })
			random = append(random, parted(places, sizes))
		}
		known[key] = random
	}
	columns := make([][]float64, len(in)-1)
	for at := range columns {
		for _, r := range random {
			columns[at] = append(columns[at], r[at])
		}
		slices.Sort(columns[at])
	}
	extreme := func(stats []float64) int {
		least := draws
		for at, v := range stats {
			below, _ := slices.BinarySearch(columns[at], v-1e-9*math.Abs(v))
			least = min(least, draws-below)
		}
		return least
	}
	seen, as := extreme(parted(ranks, sizes)), 0
	for _, r := range random {
		if extreme(r) <= seen {
			as++
		}
	}
	return float64(1+as) / (1 + draws)
}

// parted are the squared standardized differences of the lower and the upper samples, for
// each place of their order by mean rank.
func parted(ranks []float64, sizes []int) (all []float64) {
	type sample struct {
		n   int
		sum float64
	}
	var samples []sample
	total, mean := float64(len(ranks)), float64(len(ranks))/2
	at := 0
	for _, n := range sizes {
		one := sample{n: n}
		for _, r := range ranks[at : at+n] {
			one.sum += r - mean
		}
		samples, at = append(samples, one), at+n
	}
	slices.SortFunc(samples, func(a, b sample) int {
		switch d := a.sum/float64(a.n) - b.sum/float64(b.n); {
		case d < 0:
			return -1
		case d > 0:
			return 1
		}
		return 0
	})
	n, sum := 0.0, 0.0
	for _, s := range samples[:len(samples)-1] {
		n, sum = n+float64(s.n), sum+s.sum
		all = append(all, sum*sum/(n*(total-n)))
	}
	return all
}
