package engine

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/test/freeze"
	"github.com/millicore/millicore/test/testkit"
)

// asService in the environment makes the test's binary a service that freezes: its
// value is the work, the period and the time of the freeze.
const asService = "MILLICORE_TEST_AS_SERVICE"

// serviceBegins is the service's position in its period at the first request.
const serviceBegins = time.Second

func TestMain(m *testing.M) {
	if text := os.Getenv(asService); text != "" {
		var f freeze.Service
		_, err := fmt.Sscan(text, &f.Work, &f.Period, &f.Still)
		if err == nil {
			err = freeze.Serve(f, serviceBegins, os.Stdin, os.Stdout)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// realService is a service that freezes, in a separate process.
type realService struct {
	addr netip.AddrPort
	cmd  *exec.Cmd
	in   io.Closer
	out  *bufio.Reader
}

func startService(tb testing.TB, f freeze.Service) *realService {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	s := &realService{cmd: exec.Command(self)}
	s.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %d", asService, f.Work, f.Period, f.Still))
	s.cmd.Stderr = os.Stderr
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	s.out = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.stop() })
	var addr string
	if _, err := fmt.Fscan(s.out, &addr); err != nil {
		tb.Fatal(err)
	}
	s.addr = netip.MustParseAddrPort(addr)
	return s
}

// stop ends the service and returns its lateness.
func (s *realService) stop() freeze.Lateness {
	s.in.Close()
	late, _ := freeze.ReadLateness(s.out) // none if it was stopped before
	s.cmd.Wait()
	return late
}

// plan is a plan of requests to the service.
func (s *realService) plan(load Load) Plan {
	p := plan(load)
	p.Targets = []Target{{Addr: s.addr, Requests: p.Targets[0].Requests}}
	return p
}

// raced reports whether the race detector is on.
var raced bool // set by race_on_test.go

// The freeze of TestFreezeIsSeenWhole for real, over one period. A machine that
// freezes by itself may spoil the result; the engine's send lag and the service's
// lateness show that, and then the test is repeated.
func TestARealFreezeIsSeenWhole(t *testing.T) {
	testkit.Long(t, "10 s of load")
	if raced {
		t.Skip("both sides are as fast as they are only without the race detector")
	}
	f := freeze.Service{Work: time.Millisecond, Period: 8 * time.Second, Still: time.Second}
	want := f.Truth(serviceBegins, 1000, 8*time.Second, 64)
	const tries, quiet = 10, 2 * time.Millisecond
	for range tries {
		s := startService(t, f)
		p := s.plan(Load{Open: true, Even: true, Curve: steady(t, 1000, 8*time.Second)})
		p.Connections, p.Timeout = 64, 5*time.Second
		all := newTally()
		runReal(t, p, time.Now, func(i *Interval) { all.add(&tally{Client: *i.Client}) })
		late, lag := s.stop(), all.SendLag.Quantile(0.999)
		t.Logf("p50 %v, p95 %v, p99 %v, max %v; worked out: %v, %v, %v, %v; sent late p50 %v, p99 %v, p999 %v; woke late %v",
			all.Latency.Quantile(0.5), all.Latency.Quantile(0.95), all.Latency.Quantile(0.99), all.Latency.Max(),
			freeze.Rank(want, 0.5), freeze.Rank(want, 0.95), freeze.Rank(want, 0.99), freeze.Rank(want, 1),
			all.SendLag.Quantile(0.5), all.SendLag.Quantile(0.99), lag, late.Most)
		if all.Good != 8000 {
			t.Fatalf("%d good answers; want 8000", all.Good)
		}
		off := ""
		for _, q := range []float64{0.95, 0.99, 0.999} {
			got, want := all.Latency.Quantile(q), freeze.Rank(want, q)
			if math.Abs(float64(got-want)) > 0.02*float64(want) {
				off += fmt.Sprintf("quantile %v is %v, not %v; ", q, got, want)
			}
		}
		if off == "" {
			return
		}
		if late.Most < quiet && lag < quiet {
			t.Fatal(off)
		}
	}
	t.Skipf("the machine was busy %d times: the engine sent or the service woke more than %v late", tries, quiet)
}

// runReal opens the engine and runs a plan from the time that start returns.
func runReal(tb testing.TB, p Plan, start func() time.Time, take func(*Interval)) {
	tb.Helper()
	e, err := Open(p)
	if err != nil {
		tb.Fatal(err)
	}
	defer e.Close()
	if err := e.Run(start(), func(i *Interval) error {
		take(i)
		return nil
	}); err != nil {
		tb.Fatal(err)
	}
}

// In the steady state a request allocates nothing, and memory stays flat.
func TestRequestsDoNotAllocate(t *testing.T) {
	for name, load := range map[string]Load{
		"closed loop": {Curve: steady(t, 16, 1500*time.Millisecond)},
		"open loop":   {Open: true, Curve: steady(t, 5000, 1500*time.Millisecond)},
	} {
		t.Run(name, func(t *testing.T) {
			s := startService(t, freeze.Service{})
			p := s.plan(load)
			p.Interval = 100 * time.Millisecond
			var before, after runtime.MemStats
			requests, intervals := int64(0), int64(0)
			runReal(t, p, time.Now, func(i *Interval) {
				switch {
				case i.Seq < 5 || i.Phase != signals.Measure:
				case i.Seq == 5:
					runtime.ReadMemStats(&before)
				default:
					requests += i.Client.Good
					intervals++
					runtime.ReadMemStats(&after)
				}
			})
			if requests < 4000 {
				t.Skipf("%d requests in a second: the machine is too busy", requests)
			}
			// An interval costs some allocations in the collector, and where that is
			// held up a tally more, whose histograms have to grow.
			allocations := int64(after.Mallocs - before.Mallocs)
			if allocations > 200*intervals+requests/4 {
				t.Errorf("%d allocations for %d requests in %d intervals; want none for a request", allocations, requests, intervals)
			}
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
				t.Errorf("the heap has grown by %d bytes", grown)
			}
			t.Logf("%d allocations for %d requests in %d intervals", allocations, requests, intervals)
		})
	}
}

// The freezing service's handler is a server that net/http agrees with.
func TestTheRealServiceSpeaksHTTP(t *testing.T) {
	s := startService(t, freeze.Service{})
	r, err := http.Get("http://" + s.addr.String() + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if body, err := io.ReadAll(r.Body); err != nil || string(body) != "hi" {
		t.Fatalf("%q, %v", body, err)
	}
}
