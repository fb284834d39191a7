package causes

import (
	"cmp"
	"slices"
	"sort"

	"github.com/millicore/millicore/internal/data/signals"
)

// pressed is a frame with the CPU pressure (PSI "some") of a replica: the time in
// nanoseconds in which at least one of its tasks was ready to run and waited for a CPU.
// The kernel averages it over the CPUs on which the replica has tasks, weighted by the
// time for which they have some. It also counts tasks that the CPU limit stopped, and
// those that wait for another task of the replica. It does not count steal time.
type pressed struct {
	stretch
	ns int64
}

// pressure takes the CPU pressure of a replica's frame, if it is measured.
func (b *Builder) pressure(at replicaKey, f *signals.Frame) {
	if p := f.Server.CPUPressure; p != nil && *p >= 0 {
		b.pressed[at] = append(b.pressed[at], pressed{stretch{f.Start, f.End}, int64(1e9 * min(*p, f.Seconds()))})
	}
}

// waitsPerRun is how long a task waits for a CPU at most, as a multiple of the time for
// which it runs, where the kernel does not report it. Fair scheduling gives a task that
// wants to run its part of the CPU, so it waits for as long as it runs, times the tasks
// of others on its CPU. Beside compilers a service that slept for most of its time
// waited for seven to eight times as long as it ran.
const waitsPerRun = 8

// waitable returns for how long a replica can have waited for a CPU, by frame: by its
// CPU pressure, without the time in which its limit stopped it; or else by the CPU that
// the services of its machine used.
func (b *Builder) waitable(at replicaKey, throttled times, hosts []hosted) (out []pressed) {
	for _, p := range b.pressed[at] {
		p.ns = max(0, p.ns-throttled.within(p.from, p.to))
		out = append(out, p)
	}
	if len(out) == 0 {
		for _, h := range hosts {
			out = append(out, pressed{h.stretch, int64(unit(waitsPerRun*h.Services) * float64(h.to-h.from))})
		}
	}
	slices.SortFunc(out, func(x, y pressed) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to), cmp.Compare(x.ns, y.ns))
	})
	return out
}

// bounded returns when others used the CPUs, without overlaps, each share at most what
// the replica can have waited then. Steal time comes on top, because no task waits in it.
func bounded(all []busy, limits []pressed) (out []busy) {
	all = apart(all)
	for _, l := range limits {
		var there int64
		for _, f := range all[after(all, l.from):] {
			if f.from >= l.to {
				break
			}
			there += min(f.to, l.to) - max(f.from, l.from)
		}
		if there == 0 {
			continue
		}
		most := float64(l.ns) / float64(there) // the waits were while others used the CPUs
		var bound []busy
		i := after(all, l.from)
		for ; i < len(all) && all[i].from < l.to; i++ {
			f := all[i]
			if f.from < l.from {
				bound = append(bound, busy{stretch{f.from, l.from}, f.share, f.stolen})
			}
			bound = append(bound, busy{stretch{max(f.from, l.from), min(f.to, l.to)}, min(f.share, most+f.stolen), f.stolen})
			if f.to > l.to {
				// Limits are ordered, so what follows is bounded by the next ones.
				all[i].from = l.to
				break
			}
		}
		out = append(out, bound...)
		all = all[i:]
	}
	return append(out, all...)
}

// after returns the index of the first that ends after a moment. They are ordered and
// do not overlap.
func after(all []busy, moment int64) int {
	return sort.Search(len(all), func(i int) bool { return all[i].to > moment })
}

// apart returns the same times without overlaps; where some overlap, their shares add up.
func apart(all []busy) (out []busy) {
	type edge struct {
		at            int64
		share, stolen float64
		open          int // 1 or -1
	}
	var edges []edge
	for _, f := range all {
		if f.from < f.to {
			edges = append(edges, edge{f.from, f.share, f.stolen, 1}, edge{f.to, -f.share, -f.stolen, -1})
		}
	}
	slices.SortFunc(edges, func(x, y edge) int {
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.open, y.open), cmp.Compare(x.share, y.share), cmp.Compare(x.stolen, y.stolen))
	})
	open, share, stolen := 0, 0.0, 0.0
	for i, e := range edges {
		if open > 0 && e.at > edges[i-1].at {
			out = append(out, busy{stretch{edges[i-1].at, e.at}, unit(share), unit(stolen)})
		}
		open, share, stolen = open+e.open, share+e.share, stolen+e.stolen
		if open == 0 {
			share, stolen = 0, 0 // without what rounding left
		}
	}
	return out
}

// unit limits a share to 0..1. What is no number is 0.
func unit(share float64) float64 {
	if !(share > 0) {
		return 0
	}
	return min(1, share)
}
