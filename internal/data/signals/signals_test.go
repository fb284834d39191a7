package signals

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func ptr[T any](v T) *T { return &v }

func TestIntervalsCutATrial(t *testing.T) {
	type piece struct {
		Start, End time.Duration
		Phase      Phase
	}
	const s, ms = time.Second, time.Millisecond
	for _, c := range []struct {
		name string
		in   Intervals
		want []piece
	}{
		{"a warm-up that does not divide ends where the measured part begins",
			Intervals{Warmup: 1500 * ms, Measure: 2 * s, Every: s},
			[]piece{{0, s, Warmup}, {s, 1500 * ms, Warmup}, {1500 * ms, 2500 * ms, Measure}, {2500 * ms, 3500 * ms, Measure}, {3500 * ms, 4500 * ms, Drain}}},
		{"no warm-up", Intervals{Measure: 500 * ms, Every: s},
			[]piece{{0, 500 * ms, Measure}, {500 * ms, 1500 * ms, Drain}, {1500 * ms, 2500 * ms, Drain}}},
		{"a number of requests has no end of its own", Intervals{Every: s},
			[]piece{{0, s, Measure}, {s, 2 * s, Measure}, {2 * s, 3 * s, Measure}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []piece
			for i := range c.want {
				start, end, phase := c.in.At(i)
				got = append(got, piece{start, end, phase})
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestBetweenCountsFromZeroForANewGroup(t *testing.T) {
	before := Counters{CPU: ptr(10.0), Periods: ptr(int64(100)), Restarts: 1}
	after := Counters{CPU: ptr(0.5), Periods: ptr(int64(7)), Restarts: 2, Up: true}
	want := Server{CPU: ptr(0.5), Periods: ptr(int64(7)), Restarts: 1, Up: true}
	if d := cmp.Diff(want, Between(before, after)); d != "" {
		t.Error(d)
	}
}

func TestBetweenDistinguishesNotMeasuredFromZero(t *testing.T) {
	got := Between(Counters{CPU: ptr(1.0)}, Counters{CPU: ptr(1.0), Periods: ptr(int64(3))})
	if got.CPU == nil || *got.CPU != 0 {
		t.Errorf("CPU = %v, want 0: it was measured and did not rise", got.CPU)
	}
	if got.Periods != nil {
		t.Errorf("Periods = %d, want nil: the first reading lacks it", *got.Periods)
	}
}

// The quantiles of merged histograms are those of all values together, to three
// digits, also through the JSON form.
func TestMergedHistogramsHaveTheQuantilesOfAllValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	merged, parts := NewHistogram(), []*Histogram{NewHistogram(), NewHistogram(), NewHistogram()}
	var all []time.Duration
	for range 30000 {
		d := time.Duration(rng.ExpFloat64() * float64(20*time.Millisecond)).Truncate(time.Microsecond)
		all = append(all, max(d, time.Microsecond))
		parts[rng.IntN(3)].Record(d)
	}
	for _, p := range parts {
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var back Histogram
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		merged.Merge(&back)
	}
	slices.Sort(all)
	if merged.Count() != int64(len(all)) {
		t.Fatalf("count %d, want %d", merged.Count(), len(all))
	}
	for _, q := range []float64{0.5, 0.9, 0.99, 0.999} {
		want := all[int(q*float64(len(all)))-1]
		got := merged.Quantile(q)
		if got < want || float64(got) > float64(want)*1.002+1000 {
			t.Errorf("quantile %v = %v, want %v to three digits", q, got, want)
		}
	}
}

func TestHistogramCountsValuesOutsideItsRange(t *testing.T) {
	h := NewHistogram()
	h.Record(0)
	h.Record(-time.Second)
	h.Record(10 * time.Hour)
	if h.Count() != 3 {
		t.Errorf("count %d, want 3: nothing may be dropped", h.Count())
	}
	if h.Max() < time.Hour || h.Max() > 61*time.Minute {
		t.Errorf("max %v, want the range's end of an hour", h.Max())
	}
}

func TestRecordingDoesNotAllocate(t *testing.T) {
	h := NewHistogram()
	d := time.Microsecond
	if n := testing.AllocsPerRun(1000, func() { h.Record(d); d += 977 * time.Microsecond }); n != 0 {
		t.Errorf("%v allocations a value", n)
	}
}

func TestClientFramesAreAdded(t *testing.T) {
	frame := func(status map[string]int64) *Client {
		c := &Client{Intended: 1, Sent: 2, Good: 3, Timeouts: 4, Refused: 5, Cut: 6, Malformed: 7, Failed: 8, Carried: 9, Dropped: 10, Bytes: 11, Connects: 12,
			CPU: 0.5, RunWait: ptr(0.25), Status: status, Latency: NewHistogram(), Service: NewHistogram(), SendLag: NewHistogram()}
		c.Latency.Record(time.Millisecond)
		return c
	}
	sum := frame(nil)
	sum.Add(frame(map[string]int64{"200": 3, "500": 1}))
	sum.Add(frame(map[string]int64{"200": 3}))
	got := [12]int64{sum.Intended, sum.Sent, sum.Good, sum.Timeouts, sum.Refused, sum.Cut, sum.Malformed, sum.Failed, sum.Carried, sum.Dropped, sum.Bytes, sum.Connects}
	if want := [12]int64{3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36}; got != want {
		t.Errorf("counts %v, want %v", got, want)
	}
	if sum.CPU != 1.5 || *sum.RunWait != 0.75 || sum.Throttled != nil || sum.Latency.Count() != 3 || sum.Status["200"] != 6 || sum.Status["500"] != 1 || sum.Wanted != nil {
		t.Errorf("%+v", sum)
	}
}
