package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/test/corpus"
)

const ms = time.Millisecond

// service is a random service with what its kind decides about its truth.
type service struct {
	behaviour corpus.Behaviour
	limit     float64 // CPUs; 0: none
	latency   float64 // ms, of the objective's p99
	available float64 // percent, of the objective; 0: not asked
	capacity  float64 // requests/s, roughly
	// moves says that its capacity changes: it has no breaking point. warms: it ends.
	moves, warms bool
	drifts       bool // it moves once, from one capacity to another
	// others take CPU from it.
	others bool
	text   string // what it is, for a person
}

// kind is a way to draw a service.
type kind struct {
	name string
	// group is what its capacity does: rows of the table are of one group. "": nothing.
	group string
	draw  func(*rand.Rand) service
}

var kinds = []kind{
	{"queue", "", queue},
	{"tight", "", tight},
	{"workers", "", workers},
	{"lock", "", lock},
	{"pool", "", pool},
	{"sleep", "", sleeps},
	{"bimodal", "", bimodal},
	{"sheds", "", sheds},
	{"fails", "", fails},
	{"pareto", "heavy tails", pareto},
	{"nines", "99.99%", nines},
	{"pauses", "pauses", pauses},
	{"phases", "slow phases", phases},
	{"warmup", "warm-up", warmup},
	{"leak", "leak", leak},
	{"drift", "drift", drift},
	{"neighbours", "beside others", neighbours},
}

// random are the random numbers of one record of a kind.
func (k kind) random(seed, way uint64) *rand.Rand {
	for _, c := range k.name {
		way = way*31 + uint64(c)
	}
	return rand.New(rand.NewPCG(seed, way))
}

func uniform(r *rand.Rand, low, high float64) float64 { return low + (high-low)*r.Float64() }

// spread draws a number whose logarithm is uniform.
func spread(r *rand.Rand, low, high float64) float64 {
	return low * math.Exp(r.Float64()*math.Log(high/low))
}

func pick[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

func millis(v float64) time.Duration { return time.Duration(v * float64(ms)) }

// work draws how the work of requests is distributed, with a mean in ms, and names it.
func work(r *rand.Rand, mean float64) (func(*rand.Rand) time.Duration, string) {
	switch r.IntN(3) {
	case 0:
		return corpus.Fixed(millis(mean)), fmt.Sprintf("%.2f ms each", mean)
	case 1:
		return corpus.Exponential(millis(mean)), fmt.Sprintf("%.2f ms at random", mean)
	}
	sigma := uniform(r, 0.5, 1.2)
	return corpus.Lognormal(millis(mean), sigma), fmt.Sprintf("%.2f ms lognormal %.1f", mean, sigma)
}

// rounded has the precision that the experiment's file has.
func rounded(cpus float64) float64 { return math.Round(cpus*1000) / 1000 }

// queue has more workers than its CPU limit, or than the machine's CPUs, feeds.
func queue(r *rand.Rand) service {
	mean := spread(r, 3, 12)
	w, what := work(r, mean)
	s := service{limit: rounded(uniform(r, 0.5, 1.9)), latency: pick(r, 50.0, 100, 200, 500)}
	s.latency = max(s.latency, 15*mean)
	n := int(math.Ceil(s.limit)) + 1 + r.IntN(6)
	s.behaviour.Service = corpus.Service{Workers: n, Work: w}
	s.capacity = s.limit / mean * 1000
	s.text = fmt.Sprintf("%d workers, %s", n, what)
	return s
}

// tight is a queue of which little time is wanted: one stop by its limit is too long for many
// of its requests.
func tight(r *rand.Rand) service {
	mean := spread(r, 3, 12)
	w, what := work(r, mean)
	s := service{limit: rounded(uniform(r, 0.3, 1.5)), latency: max(30, uniform(r, 4, 10)*mean)}
	n := int(math.Ceil(s.limit)) + 3 + r.IntN(8)
	s.behaviour.Service = corpus.Service{Workers: n, Work: w}
	s.capacity = s.limit / mean * 1000
	s.text = fmt.Sprintf("%d workers, %s", n, what)
	return s
}

// workers has no more workers than CPUs.
func workers(r *rand.Rand) service {
	n := 1 + r.IntN(2)
	mean := spread(r, 3, 12)
	w, what := work(r, mean)
	s := service{limit: rounded(float64(n) + pick(r, 0, 0.5, 1, uniform(r, 0, 1.5))), latency: max(15*mean, pick(r, 50.0, 100, 200))}
	s.behaviour.Service = corpus.Service{Workers: n, Work: w}
	s.capacity = float64(n) / mean * 1000
	s.text = fmt.Sprintf("%d workers, %s", n, what)
	return s
}

// lock uses up to a little more than its CPU limit at the rate that its lock allows.
func lock(r *rand.Rand) service {
	held := spread(r, 3, 8)
	s := service{limit: rounded(uniform(r, 0.5, 2)), latency: max(15*held, pick(r, 50.0, 100, 200))}
	use := uniform(r, 0.1, 1.1)
	mean := use * s.limit * held
	w, what := corpus.Fixed(millis(mean)), fmt.Sprintf("%.2f ms each", mean)
	if r.IntN(2) == 0 {
		w, what = work(r, mean)
	}
	s.behaviour.Service = corpus.Service{Workers: 16, Work: w, Lock: millis(held)}
	s.capacity = 1000 / held
	s.text = fmt.Sprintf("lock %.2f ms, 16 workers, %s (%.0f%% of the limit)", held, what, 100*use)
	return s
}

// pool waits for a dependency with its workers.
func pool(r *rand.Rand) service {
	call, n := spread(r, 8, 40), 4+r.IntN(12)
	rate := float64(n) / call * 1000
	s := service{limit: rounded(uniform(r, 0.5, 2)), latency: max(10*call, 100)}
	use := uniform(r, 0.1, 0.9)
	mean := use * s.limit / rate * 1000
	w, what := work(r, mean)
	s.behaviour.Service = corpus.Service{Workers: n, Work: w, Call: corpus.Exponential(millis(call)), Blocking: true, Reports: r.IntN(2) == 0}
	s.capacity = rate / (1 + mean/call)
	s.text = fmt.Sprintf("pool of %d, calls of %.1f ms at random, reported %v, %s", n, call, s.behaviour.Service.Reports, what)
	return s
}

// sleeps has some requests that wait for something that it does not report.
func sleeps(r *rand.Rand) service {
	mean := spread(r, 3, 12)
	w, what := work(r, mean)
	long, share := spread(r, 100, 700), uniform(r, 0.003, 0.03)
	s := service{limit: rounded(uniform(r, 0.4, 1.5)), latency: pick(r, 200.0, 1000)}
	s.behaviour.Service = corpus.Service{Workers: 4 + r.IntN(5), Work: w, Call: corpus.Mixed(0, millis(long), share)}
	s.capacity = s.limit / mean * 1000
	s.text = fmt.Sprintf("%d workers, %s, %.1f%% sleep %.0f ms", s.behaviour.Service.Workers, what, 100*share, long)
	return s
}

func bimodal(r *rand.Rand) service {
	short, long, share := spread(r, 1, 4), spread(r, 20, 60), uniform(r, 0.02, 0.1)
	mean := short*(1-share) + long*share
	s := service{limit: rounded(uniform(r, 0.5, 2)), latency: max(200, 8*long)}
	s.behaviour.Service = corpus.Service{Workers: 4 + r.IntN(5), Work: corpus.Mixed(millis(short), millis(long), share)}
	s.capacity = s.limit / mean * 1000
	s.text = fmt.Sprintf("%d workers, %.1f ms, %.0f%% of %.0f ms", s.behaviour.Service.Workers, short, 100*share, long)
	return s
}

func pareto(r *rand.Rand) service {
	mean, n := spread(r, 2, 6), 2+r.IntN(3)
	s := service{limit: rounded(uniform(r, 0.5, 2)), latency: pick(r, 200.0, 500, 1000)}
	s.behaviour.Service = corpus.Service{Workers: n, Work: corpus.Pareto(millis(mean), 1.6)}
	s.capacity = min(s.limit, float64(n)) / mean * 1000
	s.text = fmt.Sprintf("%d workers, %.1f ms Pareto 1.6", n, mean)
	return s
}

// sheds answers 503 above a queue, which its CPU limit, or a lock, builds.
func sheds(r *rand.Rand) service {
	s := queue(r)
	if r.IntN(3) == 0 {
		s = lock(r)
	}
	s.available = pick(r, 99, 99.9)
	s.behaviour.Service.Sheds = s.behaviour.Service.Workers + 4 + r.IntN(20)
	s.text += fmt.Sprintf(", 503 above %d", s.behaviour.Service.Sheds)
	return s
}

// fails fails a share of the requests at any load, a little more or less than is allowed.
func fails(r *rand.Rand) service {
	s := queue(r)
	s.available = pick(r, 99, 99.9)
	share := (1 - s.available/100) * pick(r, 0.2, 0.5, 2, 5)
	s.behaviour.Service.Fails = func(int) float64 { return share }
	s.text += fmt.Sprintf(", %.3f%% fail", 100*share)
	return s
}

// nines fails a share of the requests at any load, where four nines are wanted.
func nines(r *rand.Rand) service {
	s := queue(r)
	s.available = 99.99
	share := 1e-4 * pick(r, 0, 0.2, 0.5, 2, 5, 20)
	s.behaviour.Service.Fails = func(int) float64 { return share }
	s.text += fmt.Sprintf(", %.4f%% fail", 100*share)
	return s
}

func pauses(r *rand.Rand) service {
	s := queue(r)
	s.latency = pick(r, 50.0, 100)
	s.behaviour.Service.Every, s.behaviour.Service.Pause = millis(uniform(r, 7000, 30000)), millis(uniform(r, 150, 500))
	s.text += fmt.Sprintf(", pauses of %v every %.0f s", s.behaviour.Service.Pause.Round(ms), s.behaviour.Service.Every.Seconds())
	return s
}

// phases are slow from time to time.
func phases(r *rand.Rand) service {
	s := queue(r)
	every, slow, factor := uniform(r, 2, 10), uniform(r, 0.2, 1), uniform(r, 2, 3)
	s.behaviour.Service.Every = 0
	s.behaviour.Service.Aged = func(at time.Duration) float64 {
		if math.Mod(at.Seconds(), every) < slow {
			return factor
		}
		return 1
	}
	s.text += fmt.Sprintf(", %.1f times slower for %.1f s every %.0f s", factor, slow, every)
	return s
}

func warmup(r *rand.Rand) service {
	s := queue(r)
	tau, factor := spread(r, 3, 40), uniform(r, 1, 4)
	s.behaviour.Service.Aged = func(at time.Duration) float64 { return 1 + factor*math.Exp(-at.Seconds()/tau) }
	s.moves, s.warms = true, true
	s.text += fmt.Sprintf(", at first %.1f times slower, falling by e in %.0f s", 1+factor, tau)
	return s
}

func leak(r *rand.Rand) service {
	s := queue(r)
	rate := spread(r, 0.003, 0.03)
	s.behaviour.Service.Aged = func(at time.Duration) float64 { return 1 + rate*at.Seconds() }
	s.moves = true
	s.text += fmt.Sprintf(", slower by %.1f%% each second", 100*rate)
	return s
}

// drift gets slower, or faster, at some time, as a machine that is hot does.
func drift(r *rand.Rand) service {
	s := queue(r)
	at, factor := millis(uniform(r, 15000, 60000)), pick(r, uniform(r, 0.4, 0.75), uniform(r, 1.3, 2.5))
	s.behaviour.Service.Aged = func(now time.Duration) float64 {
		if now < at {
			return 1
		}
		return factor
	}
	s.moves, s.drifts = true, true
	s.text += fmt.Sprintf(", %.2f times the work from %.0f s on", factor, at.Seconds())
	return s
}

// neighbours use CPUs of the machine from time to time, without and with effect. The
// hypervisor only takes CPUs that want to run: it takes nearly all.
func neighbours(r *rand.Rand) service {
	s := pick(r, queue, lock, workers)(r)
	used, stolen := uniform(r, 2, 3.9), r.IntN(2) == 0
	if stolen {
		used = 3.9
	}
	taken := func() (all []corpus.Taken) {
		for at := uniform(r, 0, 20); at < 600; {
			lasts := spread(r, 0.3, 20)
			from := time.Duration(at * float64(time.Second))
			all = append(all, corpus.Taken{Stretch: corpus.Stretch{From: from, To: from + time.Duration(lasts*float64(time.Second))}, CPUs: used})
			at += lasts + spread(r, 1, 30)
		}
		return all
	}()
	s.behaviour.Foreign = taken
	if stolen {
		s.behaviour.Foreign, s.behaviour.Steal = nil, taken
	}
	s.others = true
	s.text += fmt.Sprintf("; others use %.1f of 4 CPUs at times", used)
	return s
}

func halved(call func(*rand.Rand) time.Duration) func(*rand.Rand) time.Duration {
	return func(r *rand.Rand) time.Duration { return call(r) / 2 }
}

// behaves is a service in all cells and trials.
func behaves(b corpus.Behaviour) func(*experiment.Cell, int) corpus.Behaviour {
	return func(*experiment.Cell, int) corpus.Behaviour { return b }
}
