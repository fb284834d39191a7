package causes

import (
	"cmp"
	"slices"
	"sort"
)

// flow is how many requests of a trial were due by each moment, from the client
// frames of all agents; within a frame they count as spread evenly. It is a
// line through corners.
type flow []corner

type corner struct {
	at    int64   // unix nanoseconds
	total float64 // requests due before it
}

// counted is how many requests were due in a frame.
type counted struct {
	stretch
	n int64
}

func newFlow(frames []counted) flow {
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
	var out flow
	var rate float64
	for i, t := range turns {
		last := corner{at: t.at}
		if i > 0 {
			last = out[len(out)-1]
		}
		if i == 0 || t.at > last.at {
			out = append(out, corner{t.at, last.total + max(0, rate)*float64(t.at-last.at)})
		}
		rate += t.rate
	}
	return out
}

// due is how many requests were due from one moment up to another; 0 where that
// is not known.
func (f flow) due(from, to int64) float64 { return f.by(to) - f.by(from) }

func (f flow) by(at int64) float64 {
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
