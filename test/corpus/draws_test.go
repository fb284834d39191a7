package corpus

import (
	"math"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/data/signals"
)

// The same service with and without its limit has the same requests, which need the same CPU,
// wait as long for its dependency and fail alike. The limit makes none of them faster.
func TestALimitChangesNeitherArrivalsNorWork(t *testing.T) {
	s := Service{Workers: 4, Work: Exponential(4 * ms), Call: Exponential(5 * ms), Fails: func(int) float64 { return 0.1 }}
	with, used := ended(t, Behaviour{Service: s})
	without, free := ended(t, Behaviour{Service: s, Unlimited: true})
	if n := len(without); n < 1800 || len(with) != n {
		t.Fatalf("%d and %d requests, want about 2,000", len(with), n)
	}
	failed, slower := 0, 0
	for i, a := range with {
		b := without[i]
		if a.intended != b.intended || a.call != b.call || a.status != b.status {
			t.Fatalf("request %d: %+v with the limit, %+v without", i, a, b)
		}
		if a.done < b.done-int64(time.Microsecond) {
			t.Fatalf("request %d is done at %d with the limit, at %d without", i, a.done, b.done)
		}
		if a.status == 500 {
			failed++
		}
		if a.done > b.done+int64(10*ms) {
			slower++
		}
	}
	about(t, "CPU in s", used/1e9, free/1e9, 1e-6)
	about(t, "failed requests", float64(failed), 0.1*float64(len(with)), 0.2)
	if slower < len(with)/10 {
		t.Errorf("the limit delays %d of %d requests by 10 ms", slower, len(with))
	}
	other, _ := ended(t, Behaviour{Service: s, Unlimited: true, CPUs: 64})
	if one, two := without[0], other[0]; one.intended != two.intended || one.call != two.call {
		t.Error("another machine changes the requests")
	}
}

func cellOf(t *testing.T, c *Case) *experiment.Cell {
	t.Helper()
	e, err := file.Parse("x.yaml", []byte(c.File), nil)
	if err != nil {
		t.Fatal(err)
	}
	return &e.Cells[0]
}

// ended runs a service for 20 s at 100 requests/s under 500m, and gives its requests by their
// numbers, and the CPU time that it used, in ns.
func ended(t *testing.T, b Behaviour) (all []*job, used float64) {
	one := newTrial(b, cellOf(t, constant("500m", 100, 20, b)), 1, 0, 0, 7)
	byNumber := map[int64]*job{}
	one.server.ended = func(j *job) {
		byNumber[j.number] = j
		one.receive(j)
	}
	one.set(100)
	one.until(int64(20 * time.Second))
	one.set(0)
	one.until(int64(30 * time.Second))
	for n := range one.number {
		if byNumber[n] == nil {
			t.Fatalf("request %d did not end", n)
		}
		all = append(all, byNumber[n])
	}
	return all, one.server.used
}

// A truth that is asked from the service itself has the requests of the record's trial.
func TestALongRunHasTheRequestsOfTheRecord(t *testing.T) {
	c := constant("500m", 100, 5, Behaviour{Service: Service{Workers: 1, Work: Exponential(4 * ms)}})
	s := NewSteady(c.Behaves(nil, 1), cellOf(t, c), 100, 3, 1)
	h := signals.NewHistogram()
	for _, r := range s.Measured(time.Second, 5*time.Second) {
		h.Record(r.Latency)
	}
	cell := summaryOf(t, c, 3).Cells[0]
	if p99 := float64(h.Quantile(0.99)) / 1e6; h.Count() != cell.Requests || p99 != cell.LatencyMS.P99 {
		t.Errorf("%d requests, p99 %g ms; the record has %d, %g ms", h.Count(), p99, cell.Requests, cell.LatencyMS.P99)
	}
}

// Busy threads are full; those of a lock are not.
func TestThreadsAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		Service
		full int
		top  float64 // of half a second
	}{
		"two busy threads":      {Service{Workers: 2, Work: Fixed(3 * ms)}, 2, 0.5},
		"a lock, of 16 threads": {Service{Workers: 16, Work: Fixed(ms / 2), Lock: 5 * ms}, 0, 0.0035},
	} {
		c.Threads = true
		one := newTrial(Behaviour{Service: c.Service}, cellOf(t, constant("4", 2000, 5, Behaviour{})), 1, 0, 0, 1)
		one.set(2000)
		for i := range 6 {
			one.until(int64(i+1) * int64(500*ms))
			k := one.threads(int64(500 * ms))
			if i > 0 && (k.Full != c.full || k.Top < 0.8*c.top || k.Top > 1.2*c.top || k.Count != c.Workers+1) {
				t.Errorf("%s: %+v, want %d full and %g s", name, k, c.full, c.top)
			}
		}
	}
}

// What requests need is independent from request to request and from trial to trial: the
// means of 400 trials of 500 exponential works vary as those of 500 independent ones do, and
// neighbours are not correlated.
func TestRequestsAreIndependent(t *testing.T) {
	const trials, requests = 400, 500
	var means, squares, beside, above float64
	before := make([]float64, requests)
	for trial := range trials {
		d, sum, last := newDraws(1, trial+1), 0.0, 1.0
		for n := range requests {
			v := d.of(int64(n)).ExpFloat64()
			sum += v
			beside += (v - 1) * (last - 1)
			if trial > 0 {
				above += (v - 1) * (before[n] - 1)
			}
			last, before[n] = v, v
		}
		means += sum / requests / trials
		squares += (sum/requests - 1) * (sum/requests - 1) / trials
	}
	about(t, "mean", means, 1, 0.01)
	about(t, "variance of the means", squares, 1./requests, 0.3)
	for name, sum := range map[string]float64{"of requests": beside, "of trials": above} {
		if correlation := sum / (trials * requests); math.Abs(correlation) > 0.01 {
			t.Errorf("correlation %s: %.4f", name, correlation)
		}
	}
}
