package schedule

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"pgregory.net/rapid"
)

func TestUsersOnARamp(t *testing.T) {
	c := mustCurve(t, Stage{Length: 10 * sec, From: 0, To: 10}, Stage{Length: 10 * sec, From: 10, To: 10}, Stage{Length: 10 * sec, From: 10, To: 0})
	u := NewUsers(c, 0, 1)
	for at, want := range map[time.Duration]int{
		0: 0, sec - 10: 0, sec: 1, 5*sec + 10: 5, 10 * sec: 10, 15 * sec: 10, 20*sec + 10: 9, 25 * sec: 5, 30 * sec: 0,
	} {
		if got := u.Active(at); got != want {
			t.Errorf("at %v: %d users; want %d", at, got, want)
		}
	}
	for n := 1; n <= 10; n++ {
		at, ok := u.Reach(n, 0)
		if want := time.Duration(n) * sec; !ok || at != want {
			t.Errorf("user %d begins at %v, %v; want %v", n, at, ok, want)
		}
	}
	if at, ok := u.Reach(11, 0); ok {
		t.Errorf("user 11 begins at %v; there is none", at)
	}
	if at, ok := u.Reach(6, 26*sec); ok {
		t.Errorf("user 6 begins again at %v; the ramp falls", at)
	}
	if at, ok := u.Reach(3, 12*sec); !ok || at != 12*sec {
		t.Errorf("user 3, asked for at 12s, begins at %v; want at once", at)
	}
}

func TestUsersOfStages(t *testing.T) {
	u := NewUsers(mustCurve(t, Stage{Length: sec, From: 2, To: 2}, Stage{Length: sec, From: 5, To: 5}, Stage{Length: sec, From: 1, To: 1}), 0, 1)
	if at, ok := u.Reach(3, 0); !ok || at != sec {
		t.Errorf("user 3 begins at %v, %v; want 1s", at, ok)
	}
	if u.Until(sec) != 2 || u.Active(sec) != 5 || u.Until(3*sec) != 1 {
		t.Errorf("%d until 1s, %d at 1s, %d until 3s; want 2, 5, 1", u.Until(sec), u.Active(sec), u.Until(3*sec))
	}
}

// Shares of users add up to all users, at any moment.
func TestSharesOfUsers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCurve(t)
		at := time.Duration(rapid.Int64Range(0, int64(c.Length())).Draw(t, "at"))
		n := rapid.IntRange(1, 9).Draw(t, "shares")
		sum := 0
		for i := range n {
			sum += NewUsers(c, i, n).Active(at)
		}
		if whole := NewUsers(c, 0, 1).Active(at); sum != whole {
			t.Fatalf("%d users in %d shares; want %d", sum, n, whole)
		}
	})
}

// Reach returns the first time: there are enough users at it, and not before.
func TestReachIsTheFirstMoment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCurve(t)
		u := NewUsers(c, rapid.IntRange(0, 2).Draw(t, "share"), 3)
		from := time.Duration(rapid.Int64Range(0, int64(c.Length())-1).Draw(t, "from"))
		n := rapid.IntRange(1, 1700).Draw(t, "n")
		at, ok := u.Reach(n, from)
		if !ok {
			at = c.Length()
		} else if at < from || u.Active(at) < n {
			t.Fatalf("reach %d from %v: %v with %d", n, from, at, u.Active(at))
		}
		for range 20 {
			if at-from < 2 {
				return
			}
			before := from + time.Duration(rapid.Int64Range(0, int64(at-from)-2).Draw(t, "before"))
			// Strictly: Active forgives what is nearly a whole number.
			if got := sharePart(int(c.At(before)), u.share, u.shares); got >= n {
				t.Fatalf("reach %d from %v: %v, but there are %d at %v", n, from, at, got, before)
			}
		}
	})
}

func TestShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(0, 1000).Draw(t, "total")
		n := rapid.IntRange(1, 20).Draw(t, "shares")
		next := 0
		for i := range n {
			from, size := Share(total, i, n)
			if from != next || size < total/n || size > total/n+1 {
				t.Fatalf("share %d of %d of %d: %d from %d", i, n, total, size, from)
			}
			next += size
		}
		if next != total {
			t.Fatalf("shares add up to %d of %d", next, total)
		}
	})
}

func TestIntervals(t *testing.T) {
	type step struct {
		end   time.Duration
		phase signals.Phase
	}
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		v    Intervals
		want []step
	}{
		"whole": {Intervals{2 * sec, 4 * sec, sec}, []step{
			{1 * sec, signals.Warmup}, {2 * sec, signals.Warmup}, {3 * sec, signals.Measure}, {4 * sec, signals.Measure},
			{5 * sec, signals.Drain}, {6 * sec, signals.Drain}}},
		"warm-up and load end between": {Intervals{1500 * ms, 3200 * ms, sec}, []step{
			{1000 * ms, signals.Warmup}, {1500 * ms, signals.Warmup}, {2500 * ms, signals.Measure}, {3200 * ms, signals.Measure},
			{4200 * ms, signals.Drain}}},
		"no warm-up": {Intervals{0, 1500 * ms, sec}, []step{
			{1000 * ms, signals.Measure}, {1500 * ms, signals.Measure}, {2500 * ms, signals.Drain}}},
		"shorter than an interval": {Intervals{100 * ms, 300 * ms, sec}, []step{
			{100 * ms, signals.Warmup}, {300 * ms, signals.Measure}, {1300 * ms, signals.Drain}}},
		"ended in the warm-up": {Intervals{2 * sec, 1500 * ms, sec}, []step{
			{1000 * ms, signals.Warmup}, {1500 * ms, signals.Warmup}, {2500 * ms, signals.Drain}}},
	} {
		t.Run(name, func(t *testing.T) {
			at := time.Duration(0)
			for i, want := range c.want {
				end, phase := c.v.After(at)
				if end != want.end || phase != want.phase {
					t.Fatalf("interval %d: until %v, %s; want %v, %s", i, end, phase, want.end, want.phase)
				}
				at = end
			}
		})
	}
}
