package search

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millicore/millicore/test/testkit"
)

// clients give a request up after a time, and send it again. The service works on what
// they gave up, too. It needs servers whose ends are known immediately.
type clients struct {
	*servers
	timeout float64 // s
	retries int     // per request
	bound   float64 // s of work that wait in the service at most; more is lost. 0: no bound
	again   []attempt
	sent    []*tried
}

// tried is a request with all its attempts.
type tried struct {
	at, end, last float64 // intended; first answer in time of its attempt; when it is given up
}

type attempt struct {
	of   *tried
	at   float64
	left int
}

func (c *clients) offer(at float64, rng *rand.Rand) {
	c.advance(at, rng)
	r := &tried{at: at, end: math.Inf(1)}
	c.sent = append(c.sent, r)
	c.try(attempt{r, at, c.retries}, rng)
}

// advance sends the attempts that are due. They are in order: all wait equally long.
func (c *clients) advance(to float64, rng *rand.Rand) {
	for len(c.again) > 0 && c.again[0].at <= to {
		next := c.again[0]
		c.again = c.again[1:]
		c.try(next, rng)
	}
}

func (c *clients) try(a attempt, rng *rand.Rand) {
	end := math.Inf(1)
	if c.bound == 0 || c.free[0]-a.at < c.bound {
		c.servers.offer(a.at, rng)
		end = c.open[0].end
		c.open = c.open[:0]
	}
	a.of.last = a.at + c.timeout
	switch {
	case end <= a.of.last:
		a.of.end = end
	case a.left > 0:
		c.again = append(c.again, attempt{a.of, a.of.last, a.left - 1})
		a.of.last = math.Inf(1) // until the next attempt
	}
}

func (c *clients) collect(before float64, ended func(request), waiting func(float64)) {
	left := c.sent[:0]
	for _, r := range c.sent {
		switch {
		case r.end < before:
			ended(request{at: r.at, end: r.end})
		case r.end > r.last && r.last < before:
			ended(request{at: r.at, end: r.last, bad: true})
		default:
			waiting(r.at)
			left = append(left, r)
		}
	}
	c.sent = left
}

func impatient(k kind, timeout float64, retries int, bound float64) kind {
	fresh := k.fresh
	k.fresh = func(w *world) service {
		return &clients{servers: fresh(w).(*servers), timeout: timeout, retries: retries, bound: bound}
	}
	return k
}

func (k kind) withAftermath() Config {
	c := k.config()
	c.After, c.Timeout = 58*time.Second, 2*time.Second
	return c
}

// recoveries are what searches of a kind found after their answers.
func (k kind) recoveries(n int) []Result {
	results := make([]Result, n)
	var wg sync.WaitGroup
	for worker := range 2 {
		wg.Go(func() {
			for seed := worker; seed < n; seed += 2 {
				results[seed] = k.world(*first + uint64(seed)).run(k.withAftermath())
			}
		})
	}
	wg.Wait()
	return results
}

// A service whose backlog costs nothing recovers from an overload at a load near to its
// breaking point. No search reports otherwise, with clients that give up or not. With
// -runs 100 each kind is searched 100 times.
func TestAServiceWithoutHysteresisRecovers(t *testing.T) {
	n := testkit.Samples(1, 2, 20)
	if *runs > 0 {
		n = *runs
	}
	all := append([]kind{}, kinds...)
	for _, k := range []kind{mm1(1000, .1, .01, 0), mm1(200, .1, .01, 0), mdk(4, 1000, .015, .01, 0), mm1(1000, 1, .01, 0)} {
		k = impatient(k, 2, 0, 0)
		k.name += ", given up after 2 s"
		all = append(all, k)
	}
	for _, k := range all {
		if !strings.Contains(k.name, *only) {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			unknown, unsustained, seconds := 0, 0, 0.0
			for i, r := range k.recoveries(n) {
				if r.Recovery.Hysteresis() {
					t.Errorf("seed %d: %+v", *first+uint64(i), r)
				}
				if r.Recovery.Sustained == SustainedMissed {
					unsustained++
				}
				if r.Recovery.At == 0 {
					unknown++
					t.Logf("seed %d: %+v", *first+uint64(i), r)
				}
				seconds = max(seconds, r.Traffic.Seconds())
			}
			t.Logf("of %d searches: %d not sustained, %d unknown, at most %.0f s", n, unsustained, unknown, seconds)
		})
	}
}

// Clients that send a request again when its answer is late double the load while there
// is a backlog. The service bears that up to half of its capacity. After an overload it
// recovers only below. Of 100 overloads one is too weak to start that.
func TestRetriesKeepAnOverloadAlive(t *testing.T) {
	k := impatient(mm1(1000, .1, .01, 0), .5, 1, 2)
	n := testkit.Samples(2, 5, 20)
	if *runs > 0 {
		n = *runs
	}
	weak := 0
	for i, r := range k.recoveries(n) {
		if h := r.Recovery; h.At > 0 && !h.Hysteresis() {
			weak++
		} else if !h.Hysteresis() || h.At == 0 || h.At > 500 || h.NotAt < 400 || h.At < 200 {
			t.Errorf("seed %d: %+v", *first+uint64(i), r)
		}
	}
	if weak > n/20 {
		t.Errorf("%d of %d searches saw it recover at once", weak, n)
	}
}
