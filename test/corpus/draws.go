package corpus

import "math/rand/v2"

// draws are the random numbers of a trial: when requests arrive, what each needs, and which
// slow ones are kept. Each has a sequence of its own, and a request the one of its number, so
// that two trials of one seed differ in nothing but what was changed about the service.
type draws struct {
	arrivals, sample, request *rand.Rand
	source                    *rand.PCG // of request
	seed                      uint64
}

func newDraws(seed uint64, trial int) *draws {
	d := &draws{source: rand.NewPCG(0, 0)}
	of := rand.New(rand.NewPCG(seed, uint64(trial)))
	d.arrivals = rand.New(rand.NewPCG(of.Uint64(), of.Uint64()))
	d.sample = rand.New(rand.NewPCG(of.Uint64(), of.Uint64()))
	d.request = rand.New(d.source)
	d.seed = of.Uint64()
	return d
}

// of are the numbers of a request, from the first one on.
func (d *draws) of(number int64) *rand.Rand {
	const golden = 0x9e3779b97f4a7c15
	state := d.seed + 2*uint64(number)*golden
	d.source.Seed(mixed(state), mixed(state+golden))
	return d.request
}

// mixed is a step of SplitMix64: states that are alike give numbers that are not (G. Steele, D.
// Lea, C. Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
func mixed(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
