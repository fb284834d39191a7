package search

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/test/testkit"
)

// drifting are services whose capacity changes: the first kinds rise, the others fall.
var drifting = []kind{
	changing("warms up from 5 times in 20 s", func(at, _ float64) float64 { return .001 * (1 + 4*math.Exp(-at/20)) }, 954, .1),
	changing("warms up from 5 times in 40 s", func(at, _ float64) float64 { return .001 * (1 + 4*math.Exp(-at/40)) }, 954, .1),
	changing("leaks 1.5% a second", func(at, _ float64) float64 { return .001 * math.Exp(.015*at) }, 300, .1),
	changing("leaks 3% a second", func(at, _ float64) float64 { return .001 * math.Exp(.03*at) }, 200, .1),
}

// odd are services whose capacity is steady, some of them no queues, or was when the search
// came near to it.
var odd = []kind{
	mm1(1000, .05, .01, 0), mm1(200, .1, .01, 0), mm1(20, 1, .01, 0), mm1(200, .1, .001, 0),
	mm1(1000, .1, .001, 0),
	{name: "lognormal 1.2", limit: .1, late: .01, bad: -1, truth: 1, fresh: func(*world) service {
		return newServers(1, func(rng *rand.Rand) float64 { return .005 * math.Exp(1.2*rng.NormFloat64()-.72) })
	}},
	{name: "Pareto 1.6, 2 workers", limit: .1, late: .01, bad: -1, truth: 1, fresh: func(*world) service {
		return newServers(2, func(rng *rand.Rand) float64 { return .005 * .375 * math.Pow(1-rng.Float64(), -1/1.6) })
	}},
	changing("pause 150 ms every 7 s", pause(7, .15), 1, .1),
	changing("pause 200 ms every 7 s", pause(7, .2), 1, .1),
	changing("pause 300 ms every 7 s", pause(7, .3), 1, .1),
	changing("pause 500 ms every 30 s", pause(30, .5), 1, .1),
	changing("warms up from 5 times in 10 s", func(at, _ float64) float64 { return .001 * (1 + 4*math.Exp(-at/10)) }, 954, .1),
	changing("half as fast .2 s in 2", func(at, _ float64) float64 {
		if math.Mod(at, 2) < .2 {
			return .002
		}
		return .001
	}, 1, .1),
	changing("3 times slower 1 s in 10", func(at, _ float64) float64 {
		if math.Mod(at, 10) < 1 {
			return .003
		}
		return .001
	}, 1, .1),
}

// A change of the capacity is named, with its direction, and seldom of a stationary
// service. With -runs 60 -v this prints the figures of docs/statistics.md.
func TestAChangeOfTheCapacityIsNamed(t *testing.T) {
	n := cmp.Or(*runs, testkit.Samples(1, 2, 10))
	rows := slices.Concat(kinds, odd, drifting)
	var falsely, steady, rightly, changing int // of all rows: few searches of one show little
	for i, k := range rows {
		if !strings.Contains(k.name, *only) {
			continue
		}
		want := Ended("")
		if i >= len(kinds)+len(odd) {
			want = Fell
			if strings.HasPrefix(k.name, "warms") {
				want = Rose
			}
		}
		var rose, fell, answers int
		for _, r := range k.searched(n, func(c *Config) { c.After = time.Minute }) {
			switch {
			case r.Ended == Rose:
				rose++
			case r.Ended == Fell:
				fell++
			case r.Load > 0:
				answers++
			}
		}
		t.Logf("| %s | %d | rose %d, fell %d | answers %d |", k.name, n, rose, fell, answers)
		named := map[Ended]int{Rose: rose, Fell: fell, "": rose + fell}[want]
		if want == "" {
			falsely, steady = falsely+named, steady+n
		} else {
			rightly, changing = rightly+named, changing+n
		}
		if want == "" && named > 2+n/10 || want != "" && named < n*3/4-1 {
			t.Errorf("%s: rose in %d, fell in %d of %d searches", k.name, rose, fell, n)
		}
	}
	if 50*falsely > max(steady, 50) || 4*rightly < 3*changing {
		t.Errorf("a change is named in %d of %d searches of steady services, and in %d of %d of others", falsely, steady, rightly, changing)
	}
}
