package causes

import (
	"cmp"
	"slices"
	"sort"
)

// stretch is the time from one moment to another, in unix nanoseconds.
type stretch struct{ from, to int64 }

// times is a set of stretches, in order, that neither touch nor overlap and are not
// empty.
type times []stretch

// union returns the times covered by any of the stretches.
func union(all ...stretch) times {
	sorted := slices.DeleteFunc(slices.Clone(all), func(s stretch) bool { return s.from >= s.to })
	slices.SortFunc(sorted, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	var out times
	for _, s := range sorted {
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// during returns the part of t between two moments.
func (t times) during(from, to int64) times {
	var out times
	for i := t.after(from); i < len(t) && t[i].from < to && from < to; i++ {
		out = append(out, stretch{max(t[i].from, from), min(t[i].to, to)})
	}
	return out
}

// within returns how much of t lies between two moments, in nanoseconds.
func (t times) within(from, to int64) (held int64) {
	for i := t.after(from); i < len(t) && t[i].from < to; i++ {
		held += max(0, min(t[i].to, to)-max(t[i].from, from))
	}
	return held
}

// after returns the index of the first stretch that ends after a moment.
func (t times) after(moment int64) int {
	return sort.Search(len(t), func(i int) bool { return t[i].to > moment })
}

// both returns the times that are in t and in o.
func (t times) both(o times) times {
	var out times
	for _, s := range t {
		out = append(out, o.during(s.from, s.to)...)
	}
	return out
}

// without returns the part of t that is not in o.
func (t times) without(o times) times {
	var out times
	for _, s := range t {
		for i := o.after(s.from); i < len(o) && o[i].from < s.to; i++ {
			if s.from < o[i].from {
				out = append(out, stretch{s.from, o[i].from})
			}
			s.from = o[i].to
		}
		if s.from < s.to {
			out = append(out, s)
		}
	}
	return out
}

// long is the total length of t, in nanoseconds.
func (t times) long() (held int64) {
	for _, s := range t {
		held += s.to - s.from
	}
	return held
}
