package corpus

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
)

const ms = time.Millisecond

// byLimit is the limit of services that their CPU limit breaks: whether they use it up
// on average is chance.
const byLimit = summary.ByCPULimit + " or " + summary.ByThrottling

// unsaturated is the limit of a service that misses its objective before the host is full,
// which the figures do not always show.
const unsaturated = summary.ByHost + " or " + summary.ByService

// ofAPool: calls take as long at any load. Where no waits at low loads are known, it is "a
// dependency, or a pool of calls to it", and never the dependency alone.
const ofAPool = summary.ByDependency + " or " + summary.ByService

// same is a behaviour that all cells and trials have.
func same(b Behaviour) func(*experiment.Cell, int) Behaviour {
	return func(*experiment.Cell, int) Behaviour { return b }
}

// each gives the cells their behaviours in turn.
func each(all ...Behaviour) func(*experiment.Cell, int) Behaviour {
	return func(c *experiment.Cell, _ int) Behaviour { return all[c.Index%len(all)] }
}

// vary is the axis v with n values, and the environment that uses it.
func vary(n int) string {
	values := ""
	for i := range n {
		values += fmt.Sprintf("%c, ", 'A'+i)
	}
	return "vary: {v: [" + values[:len(values)-2] + "]}\n"
}

const service = "services:\n  a: {command: [x, \"${port}\"], env: {V: \"${v}\"}}\n"
const alone = "services:\n  a: {command: [x, \"${port}\"]}\n"

// rate is a constant open loop.
func rate(name, services string, limit string, perSecond float64, objective string, seconds, repeats int) string {
	return fmt.Sprintf("name: %s\n%s%sload: {request: {path: /}, rate: %g}\n%smeasure: {warmup: 1s, duration: %ds, repeats: %d, interval: 500ms}\n",
		name, services, limits(limit), perSecond, wanted(objective), seconds, repeats)
}

// find is a search of the breaking point.
func find(name, services, limit, objective string, seconds, repeats int) string {
	return fmt.Sprintf("name: %s\n%s%sload: {request: {path: /}, find: breaking-point}\n%smeasure: {warmup: 1s, duration: %ds, repeats: %d, interval: 500ms}\n",
		name, services, limits(limit), wanted(objective), seconds, repeats)
}

// ramp is a staged open loop.
func ramp(name, services, limit string, from, to, by float64, each, objective string, repeats int) string {
	return fmt.Sprintf("name: %s\n%s%sload: {request: {path: /}, rate: {ramp: {from: %g, to: %g, by: %g, each: %s}}}\n%smeasure: {warmup: 1s, repeats: %d, interval: 500ms}\n",
		name, services, limits(limit), from, to, by, each, wanted(objective), repeats)
}

func limits(cpu string) string {
	if cpu == "" {
		return ""
	}
	return "limits: {cpu: " + cpu + "}\n"
}

func wanted(objective string) string {
	if objective == "" {
		return ""
	}
	return "objective: {" + objective + "}\n"
}

// rare is work that is long for a share of the requests of one trial.
func rare(typical time.Duration, long time.Duration, share float64) Service {
	return Service{Workers: 64, Call: Mixed(typical, long, share), Work: Fixed(ms / 10)}
}

// starts draws a factor on the work for each start: they differ by a standard
// deviation, as starts of one program do.
func starts(sd float64, seed uint64, work time.Duration, workers int) func(*experiment.Cell, int) Behaviour {
	return func(c *experiment.Cell, repeat int) Behaviour {
		r := rand.New(rand.NewPCG(seed, uint64(1000*c.Index+repeat)))
		factor := 1 + sd*r.NormFloat64()
		return Behaviour{Service: Service{Workers: workers, Work: Exponential(time.Duration(float64(work) * factor))}}
	}
}

// Cases are the corpus.
func Cases() []Case {
	quick := Service{Workers: 4, Work: Exponential(2 * ms)}
	return append([]Case{
		// Constant loads.
		{Name: "two-identical", File: rate("two-identical", service+vary(2), "1", 200, "p99: 100ms", 10, 6), Behaves: same(Behaviour{Service: quick})},
		{Name: "twelve-identical", File: rate("twelve-identical", service+vary(12), "1", 200, "p99: 100ms", 5, 6), Behaves: same(Behaviour{Service: quick})},
		{Name: "pooled-against-median", File: rate("pooled-against-median", service+vary(2), "1", 100, "p99: 150ms", 10, 6),
			Behaves: func(c *experiment.Cell, repeat int) Behaviour {
				if c.Index == 0 {
					if repeat == 3 {
						return Behaviour{Service: rare(100*ms, 3*time.Second, 0.07)}
					}
					return Behaviour{Service: rare(100*ms, 101*ms, 0.5)}
				}
				if repeat == 2 {
					return Behaviour{Service: rare(200*ms, 4*time.Second, 0.02)}
				}
				return Behaviour{Service: rare(200*ms, 201*ms, 0.5)}
			}},
		{Name: "refuses-most", File: rate("refuses-most", alone, "1", 200, "p99: 100ms", 10, 6),
			Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Fixed(50 * ms), Backlog: 1}})},
		{Name: "fails-two-percent", File: rate("fails-two-percent", service+vary(2), "1", 200, "p99: 100ms", 10, 6),
			Behaves: each(Behaviour{Service: Service{Workers: 4, Work: Exponential(2 * ms), Fails: func(int) float64 { return 0.02 }}}, Behaviour{Service: quick})},
		{Name: "p999", File: rate("p999", service+vary(2), "1", 400, "p999: 100ms", 10, 6),
			Behaves: each(Behaviour{Service: rare(10*ms, 11*ms, 0.5)}, Behaviour{Service: rare(20*ms, 21*ms, 0.5)})},
		{Name: "parallelism-throttles", File: rate("parallelism-throttles", service+vary(2), "1", 350, "p99: 100ms", 20, 6),
			Behaves: each(Behaviour{Service: Service{Workers: 1, Work: Exponential(2 * ms)}}, Behaviour{Service: Service{Workers: 8, Work: Exponential(2500 * time.Microsecond)}})},
		{Name: "steal-in-one-trial", File: rate("steal-in-one-trial", service+vary(2), "1", 200, "p99: 100ms", 10, 6),
			Behaves: func(c *experiment.Cell, repeat int) Behaviour {
				b := Behaviour{Service: quick}
				if c.Index == 0 && repeat == 2 {
					b.Steal = []Taken{{Stretch{3 * time.Second, 5 * time.Second}, 3.9}}
				}
				return b
			}},
		{Name: "hog-throughout", File: rate("hog-throughout", alone, "1", 200, "p99: 100ms", 10, 6),
			Behaves: same(Behaviour{Service: quick, Foreign: []Taken{{Stretch{0, time.Minute}, 3.7}}})},
		{Name: "generator-stalls", File: rate("generator-stalls", alone, "1", 200, "p99: 100ms", 10, 6),
			Behaves: same(Behaviour{Service: quick, Stalls: regular(time.Second, 60*ms, time.Minute)})},
		{Name: "generator-stall-makes-queue", File: rate("generator-stall-makes-queue", alone, "1", 400, "p99: 100ms", 10, 6),
			Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Fixed(2300 * time.Microsecond)}, Stalls: regular(2*time.Second, 30*ms, time.Minute)})},
		{Name: "generator-too-slow", File: rate("generator-too-slow", alone, "1", 400, "p99: 100ms", 10, 6),
			Behaves: same(Behaviour{Service: Service{Workers: 4, Work: Exponential(ms)}, Send: 3 * ms})},
		{Name: "dependency-blocks", File: rate("dependency-blocks", alone, "1", 100, "p99: 100ms", 10, 6),
			Behaves: same(Behaviour{Service: Service{Workers: 4, Work: Fixed(ms), Call: Mixed(5*ms, 150*ms, 0.05), Blocking: true}})},
		{Name: "dependency-waits", File: rate("dependency-waits", alone, "1", 100, "p99: 100ms", 10, 6),
			Behaves: same(Behaviour{Service: Service{Workers: 4, Work: Fixed(ms), Call: Mixed(5*ms, 150*ms, 0.05)}})},
		{Name: "lock-at-rate", File: rate("lock-at-rate", alone, "1", 180, "p99: 100ms", 20, 6),
			Behaves: same(Behaviour{Service: Service{Workers: 16, Work: Fixed(ms / 2), Lock: 5 * ms}})},
		{Name: "oom", File: rate("oom", alone, "1", 200, "p99: 100ms", 10, 6),
			Behaves: same(Behaviour{Service: Service{Workers: 4, Work: Exponential(2 * ms), OOM: true, Down: []Stretch{{5 * time.Second, 5300 * ms}}}})},
		{Name: "timeouts", File: rate("timeouts", service+vary(2), "1", 100, "p99: 100ms", 20, 6),
			Behaves: each(Behaviour{Service: rare(10*ms, 20*time.Second, 0.02)}, Behaviour{Service: rare(30*ms, 20*time.Second, 0.02)})},
		{Name: "kept-service", File: rate("kept-service", service+vary(2), "1", 200, "p99: 150ms", 10, 6) + "", Behaves: each(Behaviour{Service: rare(101*ms, 102*ms, 0.5)}, Behaviour{Service: rare(104*ms, 105*ms, 0.5)})},
		{Name: "few-requests", File: rate("few-requests", service+vary(2), "1", 2, "p99: 100ms", 10, 6), Behaves: same(Behaviour{Service: quick})},
		{Name: "two-slow-trials", File: rate("two-slow-trials", alone, "1", 200, "p99: 500ms", 10, 6),
			Behaves: func(_ *experiment.Cell, repeat int) Behaviour {
				if repeat <= 2 { // a warm cache is missing, or a start that went badly
					return Behaviour{Service: Service{Workers: 4, Work: Exponential(4500 * time.Microsecond)}}
				}
				return Behaviour{Service: Service{Workers: 4, Work: Exponential(ms)}}
			}},
		{Name: "steal-in-half-the-trials", File: rate("steal-in-half-the-trials", service+vary(2), "1", 200, "p99: 500ms", 10, 8),
			Behaves: func(c *experiment.Cell, repeat int) Behaviour {
				b := Behaviour{Service: Service{Workers: 4, Work: Exponential(time.Duration(1+c.Index) * ms)}}
				if repeat%2 == 0 { // 0.3 s of 10 almost without CPU: 3% of the requests
					b.Steal = []Taken{{Stretch{3 * time.Second, 3300 * ms}, 3.9}}
				}
				return b
			}},

		// Searches.
		{Name: "search-limit", Limit: byLimit, File: find("search-limit", alone, "1", "p99: 50ms", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 4, Work: Exponential(4 * ms)}})},
		{Name: "search-limit-smooth", Limit: byLimit, File: find("search-limit-smooth", alone, "2", "p99: 500ms", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 4, Work: Fixed(4 * ms)}})},
		{Name: "search-one-worker", Limit: summary.ByParallelism, File: find("search-one-worker", alone, "1", "p99: 50ms", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Exponential(3 * ms)}})},
		{Name: "search-two-workers-of-four", Limit: summary.ByParallelism, File: find("search-two-workers-of-four", alone, "3", "p99: 50ms", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 2, Work: Exponential(3 * ms)}})},
		{Name: "search-one-worker-unlimited", Limit: summary.ByParallelism, File: find("search-one-worker-unlimited", alone, "", "p99: 50ms", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Exponential(3 * ms)}})},
		{Name: "search-lock", Limit: summary.ByService, File: find("search-lock", alone, "1", "p99: 50ms", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 16, Work: Fixed(ms / 2), Lock: 5 * ms}})},
		{Name: "search-dependency", Limit: summary.ByService, File: find("search-dependency", alone, "1", "p99: 100ms", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 4, Work: Fixed(ms / 2), Call: Fixed(20 * ms), Blocking: true}})},
		{Name: "search-generator", Limit: summary.ByGenerator, File: find("search-generator", alone, "4", "p99: 50ms", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 64, Work: Fixed(ms / 5)}, Send: 2 * ms})},
		{Name: "search-host", Limit: unsaturated, File: find("search-host", alone, "", "p99: 50ms", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 64, Work: Exponential(8 * ms)}})},
		{Name: "search-no-time", File: find("search-no-time", alone, "", "p99: 50ms", 11, 1), Behaves: same(Behaviour{Service: Service{Workers: 64, Work: Fixed(ms / 10)}})},
		{Name: "search-misses-always", Limit: summary.ByService, File: find("search-misses-always", alone, "1", "p99: 50ms", 60, 1), Behaves: same(Behaviour{Service: rare(60*ms, 61*ms, 0.5)})},
		{Name: "search-always-fails", Limit: summary.ByErrors, File: find("search-always-fails", alone, "1", "p99: 50ms", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 4, Work: Fixed(ms), Fails: func(int) float64 { return 1 }}})},
		{Name: "search-fails-at-any-load", Limit: summary.ByErrors, File: find("search-fails-at-any-load", alone, "1", "p99: 50ms, availability: 99.9", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 4, Work: Exponential(4 * ms), Fails: func(int) float64 { return 0.008 }}})},
		// They refuse what their queue has no room for: a symptom of what is used up.
		{Name: "sheds-at-its-limit", Limit: byLimit, File: find("sheds-at-its-limit", alone, "1", "p99: 100ms, availability: 99.9", 60, 1),
			Behaves: same(Behaviour{Service: Service{Workers: 4, Work: Exponential(4 * ms), Backlog: 12}})},
		{Name: "sheds-at-half-a-cpu", Limit: byLimit, File: find("sheds-at-half-a-cpu", alone, "500m", "p99: 200ms, availability: 99.9", 60, 1),
			Behaves: same(Behaviour{Service: Service{Workers: 2, Work: Fixed(3 * ms), Backlog: 8}})},
		{Name: "sheds-by-a-lock", Limit: summary.ByService, File: find("sheds-by-a-lock", alone, "2", "p99: 200ms, availability: 99.9", 60, 1),
			Behaves: same(Behaviour{Service: Service{Workers: 8, Work: Fixed(ms), Lock: 5 * ms, Backlog: 8}})},
		{Name: "search-metastable", Limit: byLimit, Metastable: true, File: find("search-metastable", alone, "500m", "p99: 500ms", 60, 1),
			Behaves: same(Behaviour{Service: Service{Workers: 200, Work: Exponential(1500 * time.Microsecond), Slowed: func(n int) float64 { return 1 + float64(n)/60 }}})},
		// They have no breaking point: it changes while they are searched.
		{Name: "search-warms-up", File: find("search-warms-up", alone, "1", "p99: 50ms", 60, 1),
			Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Exponential(ms), Aged: func(at time.Duration) float64 { return 1 + 4*math.Exp(-at.Seconds()/30) }}})},
		{Name: "search-leaks", File: find("search-leaks", alone, "1", "p99: 50ms", 60, 1),
			Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Exponential(ms), Aged: func(at time.Duration) float64 { return math.Exp(at.Seconds() / 50) }}})},
		{Name: "search-stalled-generator", Limit: summary.ByGenerator, File: find("search-stalled-generator", alone, "1", "p99: 50ms", 60, 1),
			Behaves: same(Behaviour{Service: Service{Workers: 4, Work: Exponential(4 * ms)}, Stalls: regular(time.Second, 60*ms, 5*time.Minute)})},
		// Beside others a miss does not count: the answer is a lower bound.
		{Name: "search-beside-a-hog", File: find("search-beside-a-hog", alone, "1", "p99: 50ms", 60, 1),
			Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Exponential(3 * ms)}, Foreign: []Taken{{Stretch{0, 10 * time.Minute}, 2.9}}})},
		{Name: "search-slowed-by-a-hog", File: find("search-slowed-by-a-hog", alone, "1", "p99: 50ms", 60, 1),
			Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Exponential(3 * ms)}, Foreign: []Taken{{Stretch{0, 10 * time.Minute}, 3.7}}})},
		{Name: "search-identical", Limit: byLimit, File: find("search-identical", service+vary(2), "1", "p99: 50ms", 30, 6), Behaves: starts(0.02, 5, 4*ms, 4)},
		{Name: "search-different", Limit: byLimit, File: find("search-different", service+vary(2), "1", "p99: 50ms", 30, 6),
			Behaves: each(Behaviour{Service: Service{Workers: 4, Work: Exponential(4 * ms)}}, Behaviour{Service: Service{Workers: 4, Work: Exponential(5 * ms)}})},
		{Name: "search-dead-starts", Limit: byLimit, File: find("search-dead-starts", service+vary(2), "1", "p99: 50ms", 30, 6),
			Behaves: each(Behaviour{Service: Service{Workers: 4, Work: Exponential(3 * ms)}}, Behaviour{Service: Service{Workers: 4, Work: Exponential(4 * ms)}}),
			NoStart: func(c *experiment.Cell, repeat int) bool { return c.Index == 0 && repeat > 4 }},

		// What limits a service.
		{Name: "limit-fraction-two-workers", Limit: byLimit, File: find("limit-fraction-two-workers", alone, "1500m", "p99: 50ms", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 2, Work: Exponential(3 * ms)}})},
		{Name: "limit-half-one-worker", Limit: byLimit, File: find("limit-half-one-worker", alone, "500m", "p99: 100ms", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Exponential(3 * ms)}})},
		{Name: "limit-three-quarters-one-worker", Limit: byLimit, File: find("limit-three-quarters-one-worker", alone, "750m", "p99: 100ms", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Fixed(3 * ms)}})},
		{Name: "limit-collector", Limit: byLimit, File: find("limit-collector", alone, "1", "p99: 100ms", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Fixed(3 * ms), Collect: ms}})},
		{Name: "worker-fills-the-limit", Limit: summary.ByParallelism, File: find("worker-fills-the-limit", alone, "1", "p99: 500ms", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Fixed(3 * ms)}})},
		{Name: "workers-fill-the-limit", Limit: summary.ByParallelism, File: find("workers-fill-the-limit", alone, "2", "p99: 50ms", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 2, Work: Exponential(3 * ms)}})},
		{Name: "three-workers-of-six", Limit: summary.ByParallelism, File: find("three-workers-of-six", alone, "6", "p99: 50ms", 60, 1), Behaves: same(Behaviour{CPUs: 8, Service: Service{Workers: 3, Work: Exponential(3 * ms)}})},
		{Name: "worker-and-collector", Limit: summary.ByParallelism, File: find("worker-and-collector", alone, "2", "p99: 50ms", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Exponential(3 * ms), Collect: 200 * time.Microsecond}})},
		{Name: "worker-of-users", Limit: summary.ByParallelism, File: strings.Replace(find("worker-of-users", alone, "1", "p99: 50ms", 60, 1), "find:", "users: 1, think: 1ms, find:", 1), Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Exponential(3 * ms)}})},
		{Name: "worker-of-a-ramp", Limit: summary.ByParallelism, File: ramp("worker-of-a-ramp", alone, "1", 50, 500, 50, "5s", "p99: 50ms", 1), Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Exponential(3 * ms)}})},
		{Name: "late-and-refused", Limit: summary.ByParallelism, File: find("late-and-refused", alone, "2", "p99: 50ms, availability: 99.9", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Exponential(3 * ms), Backlog: 18}})},
		{Name: "lock-beside-work", Limit: summary.ByService, File: find("lock-beside-work", alone, "1", "p99: 50ms", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 16, Work: Fixed(1500 * time.Microsecond), Lock: 5 * ms}})},
		{Name: "lock-of-a-ramp", Limit: summary.ByService, File: ramp("lock-of-a-ramp", alone, "1", 50, 400, 50, "5s", "p99: 50ms", 1), Behaves: same(Behaviour{Service: Service{Workers: 16, Work: Fixed(ms), Lock: 5 * ms}})},
		{Name: "lock-of-users", Limit: summary.ByService, File: strings.Replace(find("lock-of-users", alone, "1", "p99: 50ms", 60, 1), "find:", "users: 1, think: 1ms, find:", 1), Behaves: same(Behaviour{Service: Service{Workers: 64, Work: Fixed(ms), Lock: 5 * ms}})},
		// By construction another thing breaks it without the limit at the same load.
		{Name: "limit-that-costs-nothing", File: find("limit-that-costs-nothing", alone+"vary: {cpu: [\"1\", null]}\n", "\"${cpu}\"", "p99: 50ms", 60, 1),
			Behaves: each(Behaviour{Service: Service{Workers: 4, Work: Exponential(4 * ms)}}, Behaviour{Service: Service{Workers: 16, Work: Fixed(ms), Lock: 5 * ms}})},
		// A pool of eight calls, whose dependency takes as long at any load.
		{Name: "dependency-reported", Limit: ofAPool, File: find("dependency-reported", alone, "1", "p99: 100ms", 60, 1), Behaves: same(Behaviour{Service: Service{Workers: 8, Work: Fixed(ms / 2), Call: Fixed(70 * ms), Blocking: true, Reports: true}})},
		{Name: "host-of-two", Limit: summary.ByHost, File: find("host-of-two", alone, "", "p99: 50ms", 60, 1), Behaves: same(Behaviour{CPUs: 2, Service: Service{Workers: 64, Work: Exponential(5 * ms)}})},
		{Name: "host-of-a-ramp", Limit: summary.ByHost, File: ramp("host-of-a-ramp", alone, "", 50, 600, 50, "5s", "p99: 50ms", 1), Behaves: same(Behaviour{Service: Service{Workers: 64, Work: Exponential(8 * ms)}})},
		// While there is a backlog, each request costs twice its work: 250 requests/s without
		// one, 125 with one.
		{Name: "search-retries", Metastable: true, Recovers: [2]float64{50, 125}, File: find("search-retries", alone, "1", "p99: 200ms", 60, 1),
			Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Exponential(4 * ms), Backlog: 500, Retry: 500 * ms, Retries: 1}})},

		// Ramps.
		{Name: "ramp-flat", File: ramp("ramp-flat", alone, "2", 20, 200, 20, "5s", "", 1), Behaves: same(Behaviour{Service: Service{Workers: 4, Work: Exponential(2 * ms)}})},
		{Name: "ramp-knee", Limit: byLimit, File: ramp("ramp-knee", alone, "1", 50, 500, 50, "5s", "p99: 100ms", 1), Behaves: same(Behaviour{Service: Service{Workers: 2, Work: Exponential(2500 * time.Microsecond)}})},
		{Name: "ramp-identical", Limit: byLimit, File: ramp("ramp-identical", service+vary(2), "1", 50, 500, 50, "3s", "p99: 100ms", 6), Behaves: starts(0.02, 6, 2500*time.Microsecond, 2)},
	}, moreCases()...)
}

// regular are stretches of one length that repeat.
func regular(every, length, until time.Duration) (all []Stretch) {
	for at := every; at < until; at += every {
		all = append(all, Stretch{at, at + length})
	}
	return all
}
