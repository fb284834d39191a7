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

// A request was delayed by the CPU limit if it waited while its replica was throttled, or
// worked off what that had left: for a period after it.
func TestRequestsThatTheLimitMayHaveDelayed(t *testing.T) {
	const ms = int64(time.Millisecond)
	b := New("a", 0)
	for i := range int64(4) { // throttled from 1 to 1.4 s, in each period
		b.Window(signals.Window{Trial: 1, Kind: signals.Throttled, Of: "a", Start: 1000*ms + 100*i*ms + 60*ms, End: 1000*ms + 100*(i+1)*ms})
	}
	for name, c := range map[string]struct {
		from, to int64 // ms
		may      float64
	}{
		"in windows and between them":            {1010, 1400, 1},
		"in the period after the last one":       {1350, 1490, 1},
		"longer than its own time after it":      {1480, 1700, 0},
		"its own time after it":                  {1300, 1515, 1},
		"before the first one, as in a pause":    {600, 1050, 0},
		"in a pause and while it is made up for": {700, 1200, 0},
		"without any window":                     {3000, 3300, 0},
	} {
		r := signals.SlowLine{Trial: 1, Slow: signals.Slow{Intended: c.from * ms, Sent: c.from * ms, Done: c.to * ms, For: 2}}
		if may, of := b.Contended([]signals.SlowLine{r}, 20*time.Millisecond); may != 2*c.may || of != 2 {
			t.Errorf("%s: %v of %v, want %v of 2", name, may, of, 2*c.may)
		}
	}
	other := signals.SlowLine{Trial: 2, Slow: signals.Slow{Intended: 1010 * ms, Sent: 1010 * ms, Done: 1400 * ms, For: 1}}
	if may, of := b.Contended([]signals.SlowLine{other}, 0); may != 0 || of != 1 {
		t.Errorf("in another trial: %v of %v", may, of)
	}
}
