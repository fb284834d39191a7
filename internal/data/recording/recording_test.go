package recording

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func sample() *Recording {
	r := &Recording{Requests: []Request{{0, "/"}, {1, "/a?b={{c}}"}, {0, "/ä"}}}
	for i, at := range []time.Duration{0, 5, 5, 5, 6, time.Hour, time.Hour + 999*time.Millisecond} {
		r.Add(at, uint32(i%3))
	}
	return r
}

// Times rise, so that each of them is that of one entry.
func TestTimesIdentifyEntries(t *testing.T) {
	want := []time.Duration{0, 5, 6, 7, 8, time.Hour, time.Hour + 999*time.Millisecond}
	if r := sample(); !slices.Equal(r.At, want) || r.Peak() != 5 {
		t.Errorf("%v, at most %v in a second", r.At, r.Peak())
	}
}

func TestWhatIsEncodedIsDecoded(t *testing.T) {
	for _, r := range []*Recording{sample(), {}} {
		got, err := Decode(r.Encode(), 2)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(r, got); d != "" {
			t.Error(d)
		}
	}
}

func TestBytesThatAreNoRecording(t *testing.T) {
	whole := sample().Encode()
	outside := &Recording{Requests: []Request{{}}, At: []time.Duration{1}, Of: []uint32{1}}
	long := &Recording{Requests: []Request{{Path: strings.Repeat("x", MostBytes+1)}}}
	for name, data := range map[string][]byte{"nothing": nil, "half": whole[:len(whole)/2], "a request that is not there": outside.Encode(), "a path that is too long": long.Encode(),
		"a kind that is not there": (&Recording{Requests: []Request{{2, "/"}}}).Encode()} {
		if r, err := Decode(data, 2); err == nil {
			t.Errorf("%s: %v", name, r)
		}
	}
}

// The shares together have all entries, and each finds the request of a time in any order.
func TestShares(t *testing.T) {
	r := sample()
	found := map[time.Duration]Request{}
	for i := range 3 {
		s := r.ShareOf(i, 3, time.Minute)
		var times []time.Duration
		for at, ok := s.Next(); ok; at, ok = s.Next() {
			times = append(times, at)
		}
		for _, at := range append(times, times[0]) {
			found[at] = s.Find(time.Minute + at)
		}
	}
	for i, at := range r.At {
		if found[at] != r.Requests[r.Of[i]] {
			t.Errorf("at %v: %v", at, found[at])
		}
	}
	if len(found) != len(r.At) {
		t.Errorf("%d times, want %d", len(found), len(r.At))
	}
}
