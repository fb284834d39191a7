package inspect

import (
	"context"
	"testing"
	"time"
)

// A watch reads the groups each second.
func TestAWatchFollowsTheGroups(t *testing.T) {
	h := newTree(t)
	h.group("/", 0, 0, 0)
	h.group("/a", 1, 100, 10)
	h.process(10, 1, "a", "/a", "", "a")
	s := New(h.root)
	now, seconds := time.Unix(1000, 0), 0
	s.now = func() time.Time { return now }
	s.sleep = func(_ context.Context, d time.Duration) {
		now = now.Add(d)
		if seconds++; seconds <= 3 {
			h.group("/a", 1, 100+5*seconds, 10+2*seconds)
		}
	}
	host, err := s.Scan(context.Background(), Only{}, 10500*time.Millisecond)
	if err != nil || host.Watched != 10500*time.Millisecond || seconds != 11 {
		t.Fatalf("%v, watched for %v in %d readings", err, host.Watched, seconds)
	}
	got := host.Processes[0].Throttling
	if got.Watch.Periods != 15 || got.Watch.Throttled != 6 {
		t.Errorf("watched: %+v", got.Watch)
	}
	if c := got.Course; c == nil || c.Seconds != 3 || c.Stopped != 3 || c.Windows != 1 || c.Peak.Periods != 15 || c.Peak.Throttled != 6 {
		t.Errorf("course: %+v", c)
	}
}
