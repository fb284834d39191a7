package maxprocs

import "github.com/millicore/millicore/internal/cgroup"

// lookout looks at a host again and again. It keeps the files of the limits open: a look
// is one read of each, which is one file in a container with a cgroup namespace of its
// own, and locates the group only if one of them has changed, and every tenth second.
type lookout struct {
	host  host
	watch *cgroup.Watch // nil: nothing is known
	seen  view          // at the last look
	looks int           // since the group was located
}

// relocate is after how many looks the group is located again: 10 s. A process that was
// moved to another group is noticed by that, if its old group still exists.
const relocate = 20

// look looks once. It is not for use by several goroutines at once.
func (l *lookout) look() view {
	affinity := l.host.affinity()
	l.looks++
	if l.watch == nil || l.looks >= relocate || l.watch.Changed() {
		l.close()
		// What changes between the opening and the reading is a change at the next look.
		self, err := l.host.fs.Self(cgroup.CPU)
		l.watch = self.Watch(cgroup.CPU)
		l.seen = l.host.viewOf(self, err)
		l.looks = 0
	}
	return l.seen.on(l.host, affinity)
}

// close closes the files.
func (l *lookout) close() {
	if l.watch != nil {
		l.watch.Close()
		l.watch = nil
	}
}
