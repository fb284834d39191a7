package causes

import (
	"cmp"
	"slices"
	"sort"
)

// arrivals is how many requests of a trial were due by each point in time, from the
// client frames of all agents. Within a frame they count as spread evenly, so it is a
// line through points.
type arrivals []point

type point struct {
	at    int64   // unix nanoseconds
	total float64 // requests due before it
}

// dueFrame is how many requests were due in a frame, and how many ended.
type dueFrame struct {
	stretch
	n, ended int64
}

func newArrivals(frames []dueFrame) arrivals {
	type turn struct {
		at   int64
		rate float64 // by which the flow changes there, requests a nanosecond
	}
	var turns []turn
	for _, f := range frames {
		if f.from < f.to && f.n > 0 {
			rate := float64(f.n) / float64(f.to-f.from)
			turns = append(turns, turn{f.from, rate}, turn{f.to, -rate})
		}
	}
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rate, b.rate)) })
	var out arrivals
	var rate float64
	for i, t := range turns {
		last := point{at: t.at}
		if i > 0 {
			last = out[len(out)-1]
		}
		if i == 0 || t.at > last.at {
			out = append(out, point{t.at, last.total + max(0, rate)*float64(t.at-last.at)})
		}
		rate += t.rate
	}
	return out
}

// due returns how many requests were due from one time to another; 0 if that is
// unknown.
func (f arrivals) due(from, to int64) float64 { return f.by(to) - f.by(from) }

func (f arrivals) by(at int64) float64 {
	i := sort.Search(len(f), func(i int) bool { return f[i].at > at })
	switch {
	case i == 0:
		return 0
	case i == len(f):
		return f[i-1].total
	}
	a, b := f[i-1], f[i]
	return a.total + (b.total-a.total)*float64(at-a.at)/float64(b.at-a.at)
}
