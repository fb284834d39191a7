package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/recording"
	"github.com/millicore/millicore/internal/load/wire"
)

// recorded is a load of requests at these times, of the paths /00, /01 and so on. Every third is
// HEAD.
func recorded(t *testing.T, length time.Duration, times ...time.Duration) Load {
	r := &recording.Recording{}
	for i, at := range times {
		r.Requests = append(r.Requests, recording.Request{Kind: i % 3 / 2, Path: fmt.Sprintf("/%02d", i)})
		r.Add(at, uint32(i))
	}
	return Load{Open: true, Recorded: r, Curve: steady(t, 10, length)}
}

func replays(load Load) Plan {
	p := plan(load)
	p.Kinds = []Kind{p.Kinds[0], p.Kinds[0]}
	p.Targets[0].Requests = []*wire.Template{compiled(wire.Request{Host: "x", Path: "/route/{id}", Recorded: true}), compiled(wire.Request{Method: "HEAD", Host: "x", Recorded: true})}
	return p
}

// The requests of a recording are sent at their times, in their order.
func TestReplay(t *testing.T) {
	times := []time.Duration{0, 0, 7 * ms, 500 * ms, 501 * ms, 502 * ms, 2999 * ms}
	sim := simulate(t, replays(recorded(t, 3*time.Second, times...)), lasts(20*ms))
	sim.worlds[0].size = len(request) + 2
	sum := total(sim.run(t))
	for i, at := range sim.worlds[0].sent {
		method := "GET"
		if i%3 == 2 {
			method = "HEAD"
		}
		if want := fmt.Sprintf("%s /%02d HTTP/1.1\r\nHost: x\r\n\r\n", method, i); sim.worlds[0].last[i] != want || (at-startAt-times[i]).Abs() > time.Microsecond {
			t.Errorf("%q at %v; want %q at %v", sim.worlds[0].last[i], at-startAt, want, times[i])
		}
	}
	if sum.Intended != 7 || sum.Good != 7 {
		t.Errorf("%d intended, %d good; want 7", sum.Intended, sum.Good)
	}
}

// Requests that wait keep their intended times, by which the latency is measured, and their order.
func TestAReplayIsAnOpenLoop(t *testing.T) {
	p := replays(recorded(t, time.Second, 0, 10*ms, 20*ms, 30*ms))
	p.Connections = 1
	sim := simulate(t, p, lasts(100*ms))
	sim.worlds[0].size = len(request) + 2
	sum := total(sim.run(t))
	for i, text := range sim.worlds[0].last {
		if !strings.Contains(text, fmt.Sprintf("/%02d ", i)) {
			t.Errorf("request %d is %q", i, text)
		}
	}
	if most := sum.Latency.Max(); most < 369*ms || most > 371*ms || sum.Service.Max() > 101*ms {
		t.Errorf("latency up to %v, service time up to %v; want 370ms, 100ms", most, sum.Service.Max())
	}
}

// Threads share a recording.
func TestThreadsShareAReplay(t *testing.T) {
	var times []time.Duration
	for i := range 30 {
		times = append(times, time.Duration(i)*10*ms)
	}
	p := replays(recorded(t, time.Second, times...))
	p.Threads = 3
	sim := simulate(t, p, lasts(ms))
	var all []string
	for _, w := range sim.worlds {
		w.size = len(request) + 2
	}
	sim.run(t)
	for i, w := range sim.worlds {
		for k, at := range w.sent {
			all = append(all, w.last[k][strings.Index(w.last[k], "/")+1:][:2])
			if want := times[i+3*k]; (at - startAt - want).Abs() > time.Microsecond {
				t.Errorf("thread %d: request %d at %v, want %v", i, k, at-startAt, want)
			}
		}
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) != 30 {
		t.Errorf("%d different requests, want 30", len(all))
	}
}
