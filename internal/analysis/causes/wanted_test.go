package causes

import (
	"math"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// What the CPU of the frames shows of a slow request: its own CPU time, if frames differ in
// how many of them they have.
func TestTheCPUOfSlowRequests(t *testing.T) {
	for _, c := range []struct {
		name       string
		slow       func(frame int) int
		each, more float64 // CPU of the others, and of slow requests, ms
		want       [2]float64
	}{
		{"slow ones work as long as others", func(frame int) int { return frame % 5 }, 4, 4, [2]float64{4e6, 4e6}},
		{"slow ones work for longer", func(frame int) int { return frame % 5 }, 4, 60, [2]float64{60e6, 60e6}},
		{"slow ones sleep alone", func(frame int) int { return frame % 5 }, 4, 0, [2]float64{0, 0}},
		{"as many in each frame", func(int) int { return 3 }, 4, 60, [2]float64{0, math.Inf(1)}},
		{"none", func(int) int { return 0 }, 4, 60, [2]float64{0, math.Inf(1)}},
	} {
		const stands, ended = 1.1, 100 // for how many a kept one stands
		b := New("a", 0)
		for i := range 30 {
			start := int64(i) * 5e8
			h, slow := signals.NewHistogram(), c.slow(i)
			for range ended {
				h.Record(time.Millisecond)
			}
			cpu := 1e-3 * (c.each*(ended-stands*float64(slow)) + c.more*stands*float64(slow))
			f := signals.Frame{Trial: 1, Seq: i, Phase: signals.Measure, Start: start, End: start + 5e8}
			client, server := f, f
			client.Client, client.Agent = &signals.Client{Intended: ended, Latency: h, Service: h, SendLag: h}, new(int)
			server.Of, server.Server = "a", &signals.Server{CPU: &cpu}
			b.Frame(&client)
			b.Frame(&server)
			for k := range slow {
				done := start + 4e8 + int64(k)
				b.Slow(signals.SlowLine{Trial: 1, Slow: signals.Slow{Intended: done - 2e8, Sent: done - 2e8, Done: done, For: stands}})
			}
		}
		got, _ := b.worked(200 * time.Millisecond)
		for end, want := range c.want {
			if got[end] != want && !(math.Abs(got[end]-want) < 1e3) {
				t.Errorf("%s: %v ns, want %v", c.name, got, c.want)
			}
		}
	}
}
