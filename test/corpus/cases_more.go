package corpus

import (
	"fmt"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
)

// users is a closed loop of a constant number of users.
func users(name, services, limit string, n int, objective string, seconds, repeats int) string {
	return fmt.Sprintf("name: %s\n%s%sload: {request: {path: /}, users: %d}\n%smeasure: {warmup: 1s, duration: %ds, repeats: %d, interval: 500ms}\n",
		name, services, limits(limit), n, wanted(objective), seconds, repeats)
}

// several are the services a, b, ... up to n, as `millicore try` has its settings.
func several(n int) string {
	text := "services:\n"
	for i := range n {
		text += fmt.Sprintf("  %c: {command: [x, \"${port}\"]}\n", 'a'+i)
	}
	return text
}

// limited are services with a CPU limit of their own each.
func limited(cpus ...string) string {
	text := "services:\n"
	for i, cpu := range cpus {
		text += fmt.Sprintf("  %c: {command: [x, \"${port}\"], limits: {cpu: %s}}\n", 'a'+i, cpu)
	}
	return text
}

// unequal gives the trials of a cell from the third on another behaviour.
func unequal(b, later Behaviour) func(*experiment.Cell, int) Behaviour {
	return func(_ *experiment.Cell, repeat int) Behaviour {
		if repeat > 2 {
			return later
		}
		return b
	}
}

// moreCases are about loads in users, other objectives, few and unequal trials, several
// cells, deaths, and what `millicore try` compares.
func moreCases() []Case {
	quick := Service{Workers: 4, Work: Exponential(2 * ms)}
	serving := func(workers int, work time.Duration) Behaviour {
		return Behaviour{Service: Service{Workers: workers, Work: Exponential(work)}}
	}
	failing := func(share float64) Behaviour {
		return Behaviour{Service: Service{Workers: 4, Work: Exponential(2 * ms), Fails: func(int) float64 { return share }}}
	}
	crash := []Stretch{{5 * time.Second, 5500 * ms}}
	return []Case{
		// Users that wait for their answers.
		{Name: "closed-three", File: users("closed-three", service+vary(3), "2", 20, "p99: 200ms", 5, 6), Behaves: each(serving(2, 2*ms), serving(2, 4*ms), serving(2, 3*ms))},
		{Name: "closed-six-identical", File: users("closed-six-identical", service+vary(6), "2", 10, "p99: 200ms", 4, 6), Behaves: same(serving(2, 3*ms))},
		{Name: "closed-throttled", File: users("closed-throttled", service+vary(2), "1", 16, "p99: 300ms", 10, 6), Behaves: each(serving(1, 2*ms), serving(4, 2*ms))},
		{Name: "closed-few-users", File: users("closed-few-users", alone, "1", 1, "p99: 100ms", 10, 6), Behaves: same(serving(1, 4*ms))},

		// Other objectives.
		{Name: "p95", File: rate("p95", service+vary(2), "1", 200, "p95: 8ms", 10, 6), Behaves: each(serving(4, 2*ms), serving(4, 3*ms))},
		{Name: "availability", File: rate("availability", service+vary(2), "1", 200, "availability: 99.9", 10, 6), Behaves: each(failing(0.0002), failing(0.005))},
		{Name: "latency-and-availability", File: rate("latency-and-availability", alone, "1", 200, "p99: 100ms, availability: 99", 10, 6), Behaves: same(failing(0.02))},
		{Name: "no-objective", File: rate("no-objective", service+vary(2), "1", 200, "", 10, 6), Behaves: each(serving(4, ms), serving(4, 3*ms))},

		// Failures of several kinds.
		{Name: "mixed-errors", File: rate("mixed-errors", alone, "1", 200, "p99: 100ms", 10, 6), Behaves: same(Behaviour{Service: Service{Workers: 4, Work: Fixed(ms),
			Call: Mixed(5*ms, 20*time.Second, 0.005), Fails: func(int) float64 { return 0.01 }, Down: crash}})},
		{Name: "oom-in-one-cell", File: rate("oom-in-one-cell", service+vary(2), "1", 200, "p99: 100ms", 10, 6),
			Behaves: each(Behaviour{Service: Service{Workers: 4, Work: Exponential(2 * ms), OOM: true, Down: crash}}, Behaviour{Service: quick})},
		{Name: "restarts", File: rate("restarts", alone, "1", 200, "p99: 100ms", 10, 6), Behaves: same(Behaviour{Service: Service{Workers: 4, Work: Exponential(2 * ms), Down: crash}})},
		{Name: "dies-in-the-last-second", File: rate("dies-in-the-last-second", alone, "1", 200, "p99: 100ms", 10, 6), Behaves: func(_ *experiment.Cell, repeat int) Behaviour {
			b := serving(4, 2*ms)
			if repeat == 2 {
				b.Service.Down = []Stretch{{10700 * ms, time.Minute}}
			}
			return b
		}},
		{Name: "always-down", File: rate("always-down", alone, "1", 100, "p99: 100ms", 5, 6), Behaves: same(Behaviour{Service: Service{Workers: 4, Work: Fixed(ms), Down: []Stretch{{0, time.Minute}}}})},
		{Name: "all-fail-in-one-cell", File: rate("all-fail-in-one-cell", service+vary(2), "1", 100, "p99: 100ms", 5, 6), Behaves: each(failing(1), failing(0))},

		// Few, unequal and missing trials.
		{Name: "one-trial", File: rate("one-trial", service+vary(2), "1", 200, "p99: 100ms", 10, 1), Behaves: each(serving(4, 2*ms), serving(4, 3*ms))},
		{Name: "three-trials", File: rate("three-trials", service+vary(2), "1", 200, "p99: 100ms", 10, 3), Behaves: each(serving(4, 2*ms), serving(4, 3*ms))},
		{Name: "four-identical-trials", File: rate("four-identical-trials", service+vary(2), "1", 200, "p99: 100ms", 10, 4), Behaves: same(serving(4, 2*ms))},
		{Name: "unequal-trials", File: rate("unequal-trials", alone, "1", 200, "p99: 100ms", 10, 6), Behaves: unequal(serving(4, 2*ms), serving(4, 4*ms))},
		{Name: "one-dead-trial", File: rate("one-dead-trial", service+vary(2), "1", 200, "p99: 100ms", 10, 6), Behaves: each(serving(4, 2*ms), serving(4, 4*ms)),
			NoStart: func(c *experiment.Cell, repeat int) bool { return c.Index == 0 && repeat == 2 }},
		{Name: "one-invalid-trial", File: rate("one-invalid-trial", service+vary(2), "1", 350, "p99: 100ms", 10, 6), Behaves: each(serving(4, 2*ms), serving(4, 2500*time.Microsecond)),
			Lifts: func(c *experiment.Cell, repeat int) bool { return c.Index == 1 && repeat == 2 }},
		{Name: "nothing-starts", File: rate("nothing-starts", alone, "1", 200, "p99: 100ms", 10, 2), Behaves: same(serving(4, 2*ms)), NoStart: func(*experiment.Cell, int) bool { return true }},
		{Name: "interrupted", File: rate("interrupted", service+vary(2), "1", 200, "p99: 100ms", 5, 6), Behaves: each(serving(4, 2*ms), serving(4, 4*ms))},
		{Name: "skipped", File: rate("skipped", several(2), "1", 200, "p99: 100ms", 5, 6), Behaves: same(serving(4, 2*ms))},

		// Several cells.
		{Name: "three-ordered", File: rate("three-ordered", service+vary(3), "2", 150, "p99: 100ms", 10, 6), Behaves: each(serving(4, 6*ms), serving(4, 2*ms), serving(4, 4*ms))},
		{Name: "two-of-six-better", File: rate("two-of-six-better", service+vary(6), "2", 150, "p99: 100ms", 5, 6),
			Behaves: each(serving(4, 5*ms), serving(4, 2*ms), serving(4, 5*ms), serving(4, 2*ms), serving(4, 5*ms), serving(4, 5*ms))},
		{Name: "identical-beside-a-hog", File: rate("identical-beside-a-hog", service+vary(2), "1", 150, "p99: 100ms", 10, 6),
			Behaves: each(Behaviour{Service: quick, Foreign: []Taken{{Stretch{0, time.Minute}, 3.9}}}, Behaviour{Service: quick})},
		{Name: "hog-in-most-trials", File: rate("hog-in-most-trials", service+vary(3), "1", 150, "p99: 100ms", 10, 6),
			Behaves: func(c *experiment.Cell, repeat int) Behaviour { // B, the quickest, looks like the slowest
				b := serving(4, []time.Duration{3 * ms, 2 * ms, 5 * ms}[c.Index])
				if c.Index == 1 && repeat > 2 {
					b.Foreign = []Taken{{Stretch{0, time.Minute}, 3.7}}
				}
				return b
			}},
		{Name: "generator-stalls-in-one-cell", File: rate("generator-stalls-in-one-cell", service+vary(2), "1", 200, "p99: 100ms", 10, 6),
			Behaves: each(Behaviour{Service: quick}, Behaviour{Service: quick, Stalls: regular(time.Second, 60*ms, time.Minute)})},
		{Name: "quick-but-failing", File: rate("quick-but-failing", service+vary(2), "1", 200, "p999: 100ms", 10, 6),
			Behaves: each(failing(0.005), serving(4, 3*ms))},
		{Name: "both-fail-most", File: rate("both-fail-most", service+vary(2), "1", 200, "p99: 100ms", 10, 6), Behaves: each(failing(0.38), failing(0.75))},
		{Name: "two-fail-beside-one", File: rate("two-fail-beside-one", service+vary(3), "1", 200, "p99: 100ms", 10, 6), Behaves: each(failing(0.03), failing(0), failing(0.1))},
		{Name: "one-refusing-trial", File: rate("one-refusing-trial", service+vary(2), "1", 200, "p99: 100ms", 10, 6),
			Behaves: func(c *experiment.Cell, repeat int) Behaviour {
				if c.Index == 1 && repeat == 2 {
					return failing(1)
				}
				return serving(4, time.Duration(3-c.Index)*ms)
			}},
		{Name: "long-requests-throttle", File: rate("long-requests-throttle", alone, "500m", 20, "p99: 1s", 20, 6), Behaves: same(Behaviour{Service: Service{Workers: 4, Work: Mixed(2*ms, 200*ms, 0.04)}})},

		// Searches and ramps.
		{Name: "search-p95", File: find("search-p95", alone, "1", "p95: 50ms", 40, 1), Behaves: same(serving(1, 3*ms))},
		{Name: "search-availability", File: find("search-availability", alone, "2", "availability: 99", 40, 1),
			Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Exponential(5 * ms), Backlog: 8}})},
		{Name: "search-users", File: "name: search-users\n" + alone + limits("2") + "load: {request: {path: /}, users: 4, find: breaking-point}\n" + wanted("p99: 100ms") +
			"measure: {warmup: 1s, duration: 40s, repeats: 1, interval: 500ms}\n", Behaves: same(serving(2, 3*ms))},
		{Name: "ramp-errors", File: ramp("ramp-errors", alone, "2", 50, 400, 50, "4s", "availability: 99", 2),
			Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Exponential(4 * ms), Backlog: 6}})},
		{Name: "ramp-of-a-slow-cell", File: ramp("ramp-of-a-slow-cell", service+vary(2), "1", 50, 400, 50, "3s", "p99: 100ms", 4), Behaves: each(serving(1, 2500*time.Microsecond), serving(1, 6*ms))},
		{Name: "try-searches", File: find("try-searches", several(3), "1", "p99: 50ms", 30, 1),
			Behaves: each(serving(1, 4*ms), serving(8, 5*ms), serving(4, 5*ms))},
		{Name: "try-repeated", File: find("try-repeated", several(3), "1", "p99: 50ms", 30, 6),
			Behaves: each(serving(1, 4*ms), serving(8, 5*ms), serving(4, 5*ms))},
		{Name: "try-level", File: rate("try-level", several(3), "1", 110, "p99: 50ms", 10, 6), Behaves: each(serving(1, 4*ms), serving(8, 5*ms), serving(4, 5*ms))},
		{Name: "try-limits", File: find("try-limits", limited("500m", "500m", "1", "1"), "", "p99: 100ms", 30, 1),
			Behaves: each(serving(4, 5*ms), serving(1, 5*ms), serving(4, 5*ms), serving(1, 5*ms))},
		{Name: "try-limits-level", File: rate("try-limits-level", limited("500m", "500m", "1", "1"), "", 50, "p99: 100ms", 10, 6),
			Behaves: each(serving(4, 5*ms), serving(1, 5*ms), serving(4, 5*ms), serving(1, 5*ms))},
		{Name: "search-bound-beside", File: find("search-bound-beside", several(3), "2", "p99: 50ms", 16, 1),
			Behaves: each(serving(1, 4*ms), serving(2, 6*ms), Behaviour{Service: Service{Workers: 64, Work: Fixed(ms / 10)}})},
		{Name: "try-free", File: find("try-free", limited("500m", "null"), "", "p99: 100ms", 30, 1), Behaves: same(serving(2, 5*ms))},
		{Name: "try-cold-level", File: rate("try-cold-level", limited("500m", "null"), "", 60, "p99: 100ms", 10, 6), Behaves: same(serving(2, 8*ms))},
		{Name: "try-free-level", File: rate("try-free-level", limited("500m", "null"), "", 60, "p99: 100ms", 10, 6), Behaves: same(serving(2, 5*ms))},
	}
}
