package maxprocs

import "github.com/millicore/millicore/internal/cgroup"

// lookout looks at a host again and again, without locating the group each time.
type lookout struct {
	host    host
	tracker *cgroup.Tracker
	seen    view // at the last look
}

// relocate is after how many looks the group is located again: 10 s.
const relocate = 20

func (h host) lookout() *lookout {
	return &lookout{host: h, tracker: h.fs.Track(cgroup.CPU, relocate)}
}

// look looks once. It is not for use by several goroutines at once.
func (l *lookout) look() view {
	affinity := l.host.affinity()
	if self, changed, err := l.tracker.Look(); changed {
		l.seen = l.host.viewOf(self, err)
	}
	return l.seen.on(l.host, affinity)
}
