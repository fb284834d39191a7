package inspect

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/host/course"
)

const (
	// tick is the time between two readings.
	tick = time.Second
	// mostFollowed is the maximum number of groups that are read at each tick.
	mostFollowed = 64
)

// follower follows the course of a group.
type follower struct {
	counted
	*course.Recorder
	dir   string
	first Counts
}

// follow reads the groups that set limits each second until the watch ends: of many those
// that were throttled most since they were created.
func (s *Scanner) follow(ctx context.Context, watch time.Duration) {
	var all []*follower
	for _, dir := range slices.Sorted(maps.Keys(s.limiters)) {
		if l := s.limiters[dir]; l.first != nil {
			all = append(all, &follower{counted: counted{group: l.group}, Recorder: course.Record(l.began, *l.first), dir: dir, first: *l.first})
		}
	}
	slices.SortStableFunc(all, func(a, b *follower) int {
		return cmp.Or(cmp.Compare(b.first.Throttled, a.first.Throttled), cmp.Compare(sinceCreated(b.first), sinceCreated(a.first)))
	})
	all = all[:min(len(all), mostFollowed, max(0, mostFiles()-64)/filesOfAGroup)]
	all = slices.DeleteFunc(all, func(f *follower) bool { return f.open(s.root) != nil })
	for end := s.now().Add(watch); ctx.Err() == nil; {
		left := end.Sub(s.now())
		if left <= 0 {
			break
		}
		s.sleep(ctx, min(left, tick))
		now := s.now()
		for _, f := range all {
			if counts, err := f.counts(f.dir); err == nil {
				f.Add(now, counts)
			}
		}
	}
	for _, f := range all {
		f.close()
		s.limiters[f.dir].course = &f.Course
	}
}

func sinceCreated(c Counts) time.Duration {
	if c.Used == nil {
		return 0
	}
	return *c.Used
}
