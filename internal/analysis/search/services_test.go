package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// kind is a simulated service with its objective and its true breaking point.
type kind struct {
	name  string
	fresh func(*world) service
	limit float64 // the objective's latency, s
	late  float64 // the shares that it allows; negative: not asked
	bad   float64
	users bool
	truth float64 // 0: see truths
	below float64 // a load above the truth, for the long run
	width float64 // highest median width of the interval, in percent
}

// wanted is the width that a search should reach.
const wanted = 15

// kinds are the services that the search is judged by. For a slow service so few
// requests fit into a minute that no method reaches the wanted width. By Whitt's
// formula the breaking point of an M/M/1 queue for a p99 has, after n requests at it,
// a standard deviation of sqrt(8/(0.01 n)) / ln(100); 200/s for 40 s give n = 8000,
// and so 27% for the interval.
var kinds = []kind{
	mm1(1000, .05, .01, wanted),
	mm1(1000, .1, .01, wanted),
	mm1(1000, .05, .05, wanted),
	mm1(10000, .05, .01, wanted),
	mm1(200, .05, .01, 35),
	mm1(200, .1, .01, 35),
	mm1(1000, 1, .01, 60), // takes minutes to settle
	mdk(1, 1000, .05, .01, wanted),
	mdk(1, 1000, .1, .05, wanted),
	mdk(1, 10000, .05, .01, wanted),
	mdk(1, 200, .05, .01, 30),
	mdk(1, 500, .02, .01, 25),
	mdk(4, 1000, .015, .01, wanted),
	mdk(4, 200, .1, .01, 25),
	mdk(50, 1000, .055, .01, 20),
	quota(1, .0005, .02, .15, .01, false, wanted),
	quota(4, .002, .1, .1, .01, true, 18),
	quota(4, .0002, .05, .05, .01, true, wanted),
	quota(2, .0005, .05, .05, .05, true, wanted),
	quota(1, .002, .05, .1, .01, true, 30),
	quota(4, .005, .05, .1, .01, false, 35), // 84/s
	{name: "refuses what is above 1000/s", fresh: failingBy(func(x float64) float64 { return 1 - 1000/x }),
		limit: .05, late: .01, bad: .001, truth: 1000 / (1 - .001), width: wanted},
	{name: "fails more and more", fresh: failingBy(func(x float64) float64 { return .01 * math.Exp(20*(x/500-1)) }),
		limit: .05, late: .01, bad: .01, truth: 500, width: wanted},
	{name: "fails all above 700/s", fresh: failingBy(func(x float64) float64 { return math.Floor(min(x/700, 1)) }),
		limit: .05, late: .01, bad: .001, truth: 700, width: wanted},
	{name: "M/M/1/20 1000/s, 99.9% availability", fresh: bounded(20, .001), limit: .05, late: .01, bad: .001,
		truth: 760.22, width: 40}, // refuses rho^20 (1-rho) / (1-rho^21) of the requests: 30 of all in 40 s
	{name: "always 0.4% late", fresh: func(*world) service { return newServers(4, mixed(.002, .060, .004)) },
		limit: .05, late: .01, bad: -1, below: 1800, width: 40},
	// Of N users each waits for N exponential services: an Erlang distribution.
	{name: "M/M/1 1000/s, users", fresh: func(*world) service { return newServers(1, exponential(.001)) },
		limit: .05, late: .01, bad: -1, users: true, truth: 34, width: wanted},

	// These were not used while the search was tuned.
	mm1(500, .1, .05, 20),
	mm1(3000, .02, .01, wanted),
	mmk(4, 2000, .02, .01, wanted),
	mdk(2, 3000, .01, .05, wanted),
	quota(3, .001, .08, .12, .01, true, 20),
}

// mmk has k servers that together serve mu requests/s.
func mmk(k int, mu, limit, late, width float64) kind {
	return kind{name: fmt.Sprintf("M/M/%d %g/s, p%g of %g ms", k, mu, 100-100*late, limit*1000),
		fresh: func(*world) service { return newServers(k, exponential(float64(k)/mu)) },
		limit: limit, late: late, bad: -1, below: mu, width: width}
}

// mm1 is a queue whose time in the system is exponential with the rate
// mu - lambda (Kleinrock, Queueing Systems I, 3.2).
func mm1(mu, limit, late, width float64) kind {
	return kind{name: fmt.Sprintf("M/M/1 %g/s, p%g of %g ms", mu, 100-100*late, limit*1000),
		fresh: func(*world) service { return newServers(1, exponential(1/mu)) },
		limit: limit, late: late, bad: -1, truth: mu + math.Log(late)/limit, width: width}
}

// mdk has k servers that always take the same time and together serve mu requests/s.
func mdk(k int, mu, limit, late, width float64) kind {
	return kind{name: fmt.Sprintf("M/D/%d %g/s, p%g of %g ms", k, mu, 100-100*late, limit*1000),
		fresh: func(*world) service { return newServers(k, fixed(float64(k)/mu)) },
		limit: limit, late: late, bad: -1, below: mu, width: width}
}

func quota(threads int, cost, share, limit, late float64, random bool, width float64) kind {
	name, work := "", fixed(cost)
	if random {
		name, work = " at random", exponential(cost)
	}
	return kind{name: fmt.Sprintf("quota %g ms, %d threads, %g ms each%s, p%g of %g ms", share*1000, threads, cost*1000, name, 100-100*late, limit*1000),
		fresh: func(*world) service { return &throttled{threads: threads, work: work, quota: share, period: .1} },
		limit: limit, late: late, bad: -1, below: share / .1 / cost, width: width}
}

func failingBy(share func(load float64) float64) func(*world) service {
	return func(w *world) service { return &failing{share: share, load: &w.load} }
}

func bounded(queue int, mean float64) func(*world) service {
	return func(*world) service {
		s := newServers(1, exponential(mean))
		s.queue = queue
		return s
	}
}

func (k kind) world(seed uint64) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 7)), limit: k.limit, users: k.users}
	w.service = k.fresh(w)
	return w
}

func (k kind) config() Config {
	return Config{First: 50, AllowedLate: k.late, AllowedBad: k.bad, Late: time.Duration(k.limit * float64(time.Second)),
		Block: 500 * time.Millisecond, Budget: 58 * time.Second, Whole: k.users}
}

func (k kind) breaking() float64 {
	if k.truth > 0 {
		return k.truth
	}
	return truths[k.name]
}
