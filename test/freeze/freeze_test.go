package freeze

import (
	"testing"
	"time"
)

const ms = time.Millisecond

func TestDone(t *testing.T) {
	s := Service{Work: 10 * ms, Period: 1000 * ms, Still: 100 * ms} // still from 900 to 1000 ms
	for name, c := range map[string]struct{ at, want time.Duration }{
		"at work":                         {0, 10 * ms},
		"done as it stops":                {890 * ms, 900 * ms},
		"half before and half after":      {895 * ms, 1005 * ms},
		"begun as it stops":               {900 * ms, 1010 * ms},
		"begun while it stands":           {950 * ms, 1010 * ms},
		"begun as it goes on":             {1000 * ms, 1010 * ms},
		"in a later period":               {7950 * ms, 8010 * ms},
		"half before, in a later period":  {7895 * ms, 8005 * ms},
		"nothing begins in the last tick": {999 * ms, 1010 * ms},
	} {
		if got := s.Done(c.at); got != c.want {
			t.Errorf("%s: work begun at %v is done at %v; want %v", name, c.at, got, c.want)
		}
	}
	long := Service{Work: 25 * ms, Period: 10 * ms, Still: 1 * ms} // 9 ms of work a period
	if got, want := long.Done(0), 27*ms; got != want {
		t.Errorf("work of more than two periods is done at %v; want %v", got, want)
	}
	if got := (Service{Work: 3 * ms}).Done(5 * ms); got != 8*ms {
		t.Errorf("a service that never stands still is done at %v; want 8ms", got)
	}
}

// The service of the published comparison: 1,000 requests/s, answers in 1 ms, all
// of them frozen for 1 s in every 10.
func TestCoordinatedOmission(t *testing.T) {
	s := Service{Work: ms, Period: 10 * time.Second, Still: time.Second}
	for name, from := range map[string]time.Duration{"the freeze at the end": 0, "the freeze in the middle": 5 * time.Second} {
		length := 60 * time.Second
		if from == 0 {
			length = 10 * time.Second
		}
		all := s.Truth(from, 1000, length, 64)
		if want := int(length / ms); len(all) != want {
			t.Fatalf("%s: %d requests; want %d", name, len(all), want)
		}
		if got := Rank(all, 0.5); got != ms {
			t.Errorf("%s: p50 is %v; want %v, the work alone", name, got, ms)
		}
		// A tenth of the requests is due in the second, spread evenly over it.
		// Without the 15 ms that the backlog takes to leave by 64 connections,
		// the slowest twentieth begins at 1 s x (1 - 5/10), the slowest
		// hundredth at 1 s x (1 - 1/10).
		for q, want := range map[float64]time.Duration{0.95: 500 * ms, 0.99: 900 * ms, 1: 1000 * ms} {
			if got := Rank(all, q); got < want-ms || got > want+15*ms {
				t.Errorf("%s: quantile %v is %v; want %v and up to 15ms more", name, q, got, want)
			}
		}
	}
}

// One connection carries one request at a time: a queue by hand.
func TestTruthOfAQueue(t *testing.T) {
	s := Service{Work: 10 * ms, Period: 100 * ms, Still: 20 * ms}
	// Due at 5, 15, …, 95 ms; still from 80 to 100 ms. The eighth is due at 75,
	// works for 5, and is done at 105; the others queue behind it and keep its
	// lateness of 20 ms.
	want := []time.Duration{10 * ms, 10 * ms, 10 * ms, 10 * ms, 10 * ms, 10 * ms, 10 * ms, 30 * ms, 30 * ms, 30 * ms}
	got := s.Truth(0, 100, 100*ms, 1)
	if len(got) != len(want) {
		t.Fatalf("%v; want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("the latencies are %v; want %v", got, want)
			break
		}
	}
	if got := Rank(want, 0.7); got != 10*ms {
		t.Errorf("the seventh of ten is %v; want 10ms", got)
	}
	if got := Rank(want, 0.71); got != 30*ms {
		t.Errorf("above seven of ten it is %v; want 30ms", got)
	}
}
