package causes

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/millicore/millicore/internal/data/signals"
)

// Requests that wait for a connection wait in one queue of all replicas. Before a request
// is sent, only what stops all of them holds it up; afterwards, what stops its own.
func TestOneQueueOfAllReplicas(t *testing.T) {
	const a, b = 0, 1
	throttled, down := signals.Throttled, signals.Down
	of := func(replica int, kind signals.WindowKind, from, to float64) signals.Window {
		w := window(kind, from, to)
		w.Index = replica
		return w
	}
	// by A; it waited for a connection, and the generator was not late
	waited := func(intended, sent, done float64) signals.SlowLine {
		s := late(intended, sent, done)
		s.Lag = 0
		return s
	}
	for _, c := range []struct {
		name    string
		slow    []signals.SlowLine
		windows []signals.Window
		want    shares
		alone   shares // if A is the only replica
	}{
		{"only B was throttled while it waited", []signals.SlowLine{waited(0, 60, 100)},
			[]signals.Window{of(b, throttled, 0, 50)}, shares{rest: 100}, shares{rest: 100}},
		{"only A was throttled while it waited, and served it later", []signals.SlowLine{waited(0, 60, 100)},
			[]signals.Window{of(a, throttled, 0, 50)}, shares{rest: 100}, shares{throttling: 50, rest: 50}},
		{"both were throttled for a part of the wait", []signals.SlowLine{waited(0, 60, 100)},
			[]signals.Window{of(a, throttled, 0, 50), of(b, throttled, 30, 80)},
			shares{throttling: 20, rest: 80}, shares{throttling: 50, rest: 50}},
		{"A was throttled after it was sent", []signals.SlowLine{waited(0, 60, 130)},
			[]signals.Window{of(a, throttled, 70, 100)}, shares{throttling: 30, rest: 100}, shares{throttling: 30, rest: 100}},
		{"A was down and B throttled", []signals.SlowLine{waited(0, 60, 100)},
			[]signals.Window{of(a, down, 0, 50), of(b, throttled, 20, 70)},
			shares{restart: 30, rest: 70}, shares{restart: 50, rest: 50}},
		{"only A was down while it waited", []signals.SlowLine{waited(0, 60, 100)},
			[]signals.Window{of(a, down, 0, 50)}, shares{rest: 100}, shares{restart: 50, rest: 50}},
		{"in the queue that windows of both built", []signals.SlowLine{waited(0, 55, 90), waited(51, 85, 105)},
			[]signals.Window{of(a, throttled, 0, 50), of(b, throttled, 0, 50)},
			shares{throttling: 50 + 34, rest: 40 + 20}, shares{throttling: 50 + 44, rest: 40 + 10}},
		{"at A, in the queue that its window built", []signals.SlowLine{waited(0, 0, 90), waited(51, 55, 105)},
			[]signals.Window{of(a, throttled, 0, 50)},
			shares{throttling: 50 + 44, rest: 40 + 10}, shares{throttling: 50 + 44, rest: 40 + 10}},
	} {
		for replicas, want := range map[int]shares{1: c.alone, 2: c.want} {
			builder := New("web", 0)
			for i := range replicas {
				f := server(0, 1000, signals.Server{Up: true})
				f.Index = i
				builder.Frame(f)
			}
			for _, s := range c.slow {
				builder.Slow(s)
			}
			for _, w := range c.windows {
				builder.Window(w)
			}
			got := builder.Result("p99", 20*msec, 10*msec)
			if d := cmp.Diff(want, atMost(got), cmp.AllowUnexported(shares{}), cmpopts.EquateApprox(1e-9, 1e-3)); d != "" {
				t.Errorf("%s, %d replicas: milliseconds by cause, - want, + got:\n%s", c.name, replicas, d)
			}
		}
	}
}
