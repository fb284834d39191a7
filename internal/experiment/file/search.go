package file

import "time"

const (
	// leastTraffic is what some doublings and a test at the answer take.
	leastTraffic = 10 * time.Second
	// longestBlock is the longest frame of a search: its windows are whole
	// frames, and need several each.
	longestBlock = 2 * time.Second
)

// searches reports whether the file has load.find, before it is read: absent keys
// have other defaults then (see field.search).
func searches(root *node) bool {
	load := root.entry("load")
	if load == nil {
		return false
	}
	find := load.value.entry("find")
	return find != nil && find.value.kind != nullNode
}

// searches reports whether the load searches the breaking point.
func (l *load) searches() bool { return l.Find.value != "" }

// checkSearch finds what contradicts a search whatever the cell.
func (r *reader) checkSearch() {
	l, m := &r.doc.Load, &r.doc.Measure
	if !l.searches() {
		return
	}
	if !r.doc.Objective.given && !r.misspelt {
		r.problems.add(l.Find.at, "", "load.find needs an objective to search for: say objective: {p99: 100ms, availability: 99.9}")
	}
	for _, t := range []*target{&l.Users, &l.Rate} {
		if t.course != nil {
			r.problems.add(t.course.at, t.number.path, "a search begins at a number and finds its own way; write a number, or leave out find")
		}
	}
	if m.Duration.value > 0 && m.Duration.value < leastTraffic {
		r.problems.add(m.Duration.at, "measure.duration", "a search needs traffic for %s or more, not %s", short(leastTraffic), short(m.Duration.value))
	}
	if !m.Interval.bad && m.Interval.value > longestBlock {
		r.problems.add(m.Interval.at, "measure.interval", "a search has frames of %s at most, not of %s", short(longestBlock), short(m.Interval.value))
	}
}

// wholePeriods is the length of a frame nearby that is whole CFS periods.
func wholePeriods(interval, period time.Duration) time.Duration {
	whole := (interval + period - 1) / period * period
	if whole > longestBlock {
		whole -= period
	}
	return whole
}
