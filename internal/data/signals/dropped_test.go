package signals

import "testing"

// A socket that is closed takes its drops with it: the others have no new ones.
func TestDropsOfAClosedSocketAreNotNew(t *testing.T) {
	for _, c := range []struct{ before, after, want int64 }{{8000, 8003, 3}, {8000, 7000, 0}, {8000, 8000, 0}} {
		got := Between(Counters{ListenDrops: &c.before}, Counters{ListenDrops: &c.after}).ListenDrops
		if got == nil || *got != c.want {
			t.Errorf("%d, then %d: %v, want %d", c.before, c.after, got, c.want)
		}
	}
	if got := Between(Counters{}, Counters{ListenDrops: new(int64)}).ListenDrops; got != nil {
		t.Errorf("unknown before: %d, want unknown", *got)
	}
}
