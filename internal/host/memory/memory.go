// Package memory reads the memory bounds of control groups, memory.max and memory.high of a
// group and of those above it, and what the use of the groups that set them did over a watch.
// It judges nothing: package doctor does.
package memory

import (
	"path"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
)

// State is whether there is a limit.
type State string

// The three states; "" is Unknown too.
const (
	Unknown   State = "unknown"
	Unlimited State = "unlimited"
	Limited   State = "limited"
)

// Bound is a memory bound of a process and the use of it, in bytes. A nil figure was not
// measured.
type Bound struct {
	State State
	Limit int64 // 0 unless Limited
	// High: it is memory.high, above which the kernel reclaims memory and slows the processes,
	// and kills none.
	High  bool
	Group string // path of the process's own group
	SetBy string // path of the group that sets the bound; "" if it is not visible
	// Current is the use of the group that sets the bound (of the own group if that is not
	// visible), WorkingSet the same without inactive page cache, as kubelets compute it, and
	// Unreclaimable without all that the kernel can drop.
	Current, WorkingSet, Unreclaimable *int64
	// Peak is the highest Current since the group was created, page cache included.
	Peak *int64
	// OOMKills counts the processes of the own group that the kernel killed because
	// memory ran out, since the group was created; nil for memory.high.
	OOMKills *int64
	// Over is what happened over the watch; nil without one.
	Over *Change
}

// Change is what the processes of a group waited for over a watch. A nil figure was not
// measured.
type Change struct {
	Length time.Duration
	// Some is the time in which at least one thread was stalled for memory, and Full that in
	// which all were (PSI).
	Some, Full *time.Duration
	// Refaults are pages that were read again after they had been evicted, and MajorFaults those
	// that a process used in its own memory and had to wait for.
	Refaults, MajorFaults *int64
	// Held counts how often processes were held up by memory.high.
	Held *int64
}

// Again is how many pages a second of programs and mapped files were evicted and read again: of
// refaults some are by read and write, which is page cache, and of major faults some are of
// the first use of a page.
func (c *Change) Again() float64 {
	if c.Refaults == nil || c.MajorFaults == nil || c.Length <= 0 {
		return 0
	}
	return float64(min(*c.Refaults, *c.MajorFaults)) / c.Length.Seconds()
}

// Reader reads the groups of one scan, each once for each reading.
type Reader struct {
	fs   cgroup.FS
	used map[string]*use
	own  map[string][]Bound // what a group itself sets, without the use
}

// use is what a group used.
type use struct {
	group       cgroup.Group
	first, last counters
	lowest      int64 // of its bounds
}

// counters are those of a group at one time.
type counters struct {
	at         time.Time
	stat       cgroup.MemoryStat
	some, full *time.Duration
}

// New returns a reader for a scan.
func New(fs cgroup.FS) *Reader {
	return &Reader{fs: fs, used: map[string]*use{}, own: map[string][]Bound{}}
}

// Limit returns the memory limit in effect, without its use.
func Limit(g cgroup.Group) Bound {
	limit := g.MemoryLimit()
	b := Bound{State: stateOf(limit.State), Limit: limit.Bytes}
	if place, ok := g.Place(cgroup.Memory).Get(); ok {
		b.Group = place.Path(place.Dir)
		if limit.Dir != "" {
			b.SetBy = place.Path(limit.Dir)
		}
	}
	return b
}

// Others returns the other bounds of a group and those above it: limits that are not lower than
// the one in effect, which several groups together can use up, and each memory.high.
func (r *Reader) Others(g cgroup.Group, effective Bound) (all []Bound) {
	place, ok := g.Place(cgroup.Memory).Get()
	if !ok {
		return nil
	}
	for dir := place.Dir; ; dir = path.Dir(dir) {
		for _, b := range r.set(dir, place, g) {
			b.Group, b.SetBy = effective.Group, place.Path(dir)
			if b.High || b.SetBy != effective.SetBy {
				all = append(all, b)
			}
		}
		if dir == place.Top || dir == "/" {
			return all
		}
	}
}

// set returns the bounds that the group at dir sets; g is the group at place.
func (r *Reader) set(dir string, place cgroup.Place, g cgroup.Group) []Bound {
	if all, known := r.own[dir]; known {
		return all
	}
	if dir != place.Dir {
		var err error
		if g, err = r.fs.At(dir); err != nil {
			return nil
		}
	}
	var all []Bound
	if limit := g.OwnMemoryLimit(); limit.State == cgroup.Limited {
		all = append(all, Bound{State: Limited, Limit: limit.Bytes})
	}
	if high := g.OwnMemoryHigh(); high.State == cgroup.Limited {
		all = append(all, Bound{State: Limited, Limit: high.Bytes, High: true})
	}
	r.own[dir] = all
	return all
}

// Use adds the use of the group that sets a bound of a process in g, of which open has the
// counters; nil: it is opened. Without a bound it reads nothing: the use of "/" would be that of
// the whole host.
func (r *Reader) Use(g cgroup.Group, open *cgroup.Reader, b *Bound, now time.Time) {
	place, ok := g.Place(cgroup.Memory).Get()
	if !ok || b.State != Limited {
		return
	}
	of := r.at(place.Dir, func() (cgroup.Group, error) { return g, nil }, open, now)
	if of == nil {
		return
	}
	if !b.High {
		b.OOMKills = of.last.stat.OOMKillsLocal.Pointer()
	}
	if b.SetBy != "" && b.SetBy != b.Group {
		dir := path.Join(place.Top, b.SetBy)
		if of = r.at(dir, func() (cgroup.Group, error) { return r.fs.At(dir) }, nil, now); of == nil {
			return
		}
	}
	if of.lowest == 0 || b.Limit < of.lowest {
		of.lowest = b.Limit
	}
	stat := of.last.stat
	b.Current, b.WorkingSet, b.Unreclaimable, b.Peak = stat.Current.Pointer(), stat.WorkingSet().Pointer(), stat.Unreclaimable().Pointer(), stat.Peak.Pointer()
	b.Over = of.change()
}

// at returns the use of a group; nil if it could not be read.
func (r *Reader) at(dir string, locate func() (cgroup.Group, error), open *cgroup.Reader, now time.Time) *use {
	if known, ok := r.used[dir]; ok {
		return known
	}
	g, err := locate()
	if err != nil {
		return nil
	}
	first, ok := read(g, open, now)
	if !ok {
		return nil
	}
	r.used[dir] = &use{group: g, first: first, last: first}
	return r.used[dir]
}

const (
	// short is the length of a watch over which a group that used less than half of its bounds
	// at the beginning does not reach them: it is not read again, because most groups use less
	// and a host has thousands.
	short = time.Minute
	half  = 0.5
)

// Again reads the groups a second time: Use then adds what changed.
func (r *Reader) Again(now func() time.Time) {
	for _, u := range r.used {
		current, ok := u.first.stat.Current.Get()
		if ok && float64(current) < half*float64(u.lowest) && now().Sub(u.first.at) < short {
			continue
		}
		if last, ok := read(u.group, nil, now()); ok {
			u.last = last
		}
	}
}

func read(g cgroup.Group, open *cgroup.Reader, now time.Time) (c counters, ok bool) {
	if open == nil {
		var err error
		if open, err = g.Open(); err != nil {
			return c, false
		}
		defer open.Close()
	}
	c.at = now
	if open.ReadMemory(&c.stat) != nil {
		return c, false
	}
	var p cgroup.Pressure
	if open.ReadPressure(&p) == nil {
		c.some, c.full = total(p.Memory.Some), total(p.Memory.Full)
	}
	return c, true
}

// change is what happened between the two readings; nil if there is one only.
func (u *use) change() *Change {
	length := u.last.at.Sub(u.first.at)
	if length <= 0 {
		return nil
	}
	a, b := &u.first, &u.last
	return &Change{
		Length: length, Some: less(b.some, a.some), Full: less(b.full, a.full),
		Refaults:    less(b.stat.Refaults.Pointer(), a.stat.Refaults.Pointer()),
		MajorFaults: less(b.stat.MajorFaults.Pointer(), a.stat.MajorFaults.Pointer()),
		Held:        less(b.stat.HighEvents.Pointer(), a.stat.HighEvents.Pointer()),
	}
}

// less is the rise of a counter; nil if it was not measured twice, or the group was created again.
func less[T int64 | time.Duration](now, before *T) *T {
	if now == nil || before == nil || *now < *before {
		return nil
	}
	rise := *now - *before
	return &rise
}

func total(s cgroup.Value[cgroup.Stall]) *time.Duration {
	if stall, ok := s.Get(); ok {
		return &stall.Total
	}
	return nil
}

func stateOf(s cgroup.LimitState) State {
	switch s {
	case cgroup.Limited:
		return Limited
	case cgroup.Unlimited:
		return Unlimited
	}
	return Unknown
}
