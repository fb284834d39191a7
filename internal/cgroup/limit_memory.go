package cgroup

import (
	"errors"
	"fmt"
	"math"
)

// MemoryLimit is a memory limit.
type MemoryLimit struct {
	State LimitState
	Bytes int64  // 0 unless Limited
	Dir   string // the directory that sets it; "" unless Limited by a visible group

	// Hidden and Err are as in CPULimit. v1 reports the limits of hidden ancestors
	// too, so Hidden is false there.
	Hidden bool
	Err    error
}

// v1Unlimited is the lowest value of a v1 limit that means none. The kernel
// prints the largest multiple of its page size that fits into an int64; pages
// have up to 64 KiB.
const v1Unlimited = math.MaxInt64 &^ (1<<16 - 1)

// MemoryLimit returns the memory limit in effect: the lowest of the group's
// own and of those of its ancestors.
func (g Group) MemoryLimit() MemoryLimit {
	p, ok := g.Place(Memory).Get()
	if !ok {
		if err := g.Place(Memory).Err(); err != nil {
			return MemoryLimit{State: Unknown, Err: err}
		}
		return MemoryLimit{State: Unlimited}
	}
	limit := g.visibleMemoryLimit(p)
	if p.Version == V1 && !errors.Is(limit.Err, ErrGone) {
		limit = g.hierarchicalMemoryLimit(p, limit)
	}
	return limit
}

// OwnMemoryLimit returns the limit that the group itself sets, regardless of its
// ancestors.
func (g Group) OwnMemoryLimit() MemoryLimit {
	p, ok := g.Place(Memory).Get()
	if !ok {
		if err := g.Place(Memory).Err(); err != nil {
			return MemoryLimit{State: Unknown, Err: err}
		}
		return MemoryLimit{State: Unlimited}
	}
	n, limited, err := g.fs.memoryLimitOf(p.Version, p.Dir)
	switch {
	case err != nil:
		return MemoryLimit{State: Unknown, Err: err}
	case !limited:
		return MemoryLimit{State: Unlimited}
	}
	return MemoryLimit{State: Limited, Bytes: n, Dir: p.Dir}
}

// OwnMemoryHigh returns memory.high of the group itself, regardless of its ancestors: above it
// the kernel reclaims memory and slows the processes, and kills none. v1 has none.
// Linux Documentation/admin-guide/cgroup-v2.rst, "memory.high".
func (g Group) OwnMemoryHigh() MemoryLimit {
	p, ok := g.Place(Memory).Get()
	if !ok || p.Version == V1 {
		return MemoryLimit{State: Unlimited}
	}
	data, err := g.fs.read(p.Dir, "memory.high")
	if err == nil && data != nil {
		var n int64
		var unlimited bool
		if n, unlimited, err = parseMax(data); err == nil && !unlimited {
			return MemoryLimit{State: Limited, Bytes: n, Dir: p.Dir}
		}
	}
	if err != nil {
		return MemoryLimit{State: Unknown, Err: g.fs.at(p.Dir, "memory.high", err)}
	}
	return MemoryLimit{State: Unlimited}
}

// visibleMemoryLimit returns the lowest limit of the group and its visible
// ancestors.
func (g Group) visibleMemoryLimit(p Place) MemoryLimit {
	limit := MemoryLimit{State: Unlimited, Hidden: g.fs.hidden(p)}
	for _, dir := range p.dirs() {
		n, limited, err := g.fs.memoryLimitOf(p.Version, dir)
		switch {
		case errors.Is(err, ErrGone):
			return MemoryLimit{State: Unknown, Err: err}
		case err != nil && limit.Err == nil:
			limit.Err = err
		case limited && (limit.State != Limited || n < limit.Bytes):
			limit.State, limit.Bytes, limit.Dir = Limited, n, dir
		}
	}
	if limit.Err != nil && limit.State == Unlimited {
		limit.State = Unknown
	}
	return limit
}

// hierarchicalMemoryLimit returns what v1 itself calls the limit in effect,
// hierarchical_memory_limit in memory.stat, which covers hidden ancestors and
// those that do not count because of memory.use_hierarchy. visible determines
// which group sets it.
// Linux Documentation/admin-guide/cgroup-v1/memory.rst, "stat file".
func (g Group) hierarchicalMemoryLimit(p Place, visible MemoryLimit) MemoryLimit {
	data, err := g.fs.read(p.Dir, "memory.stat")
	if err != nil || data == nil {
		return visible
	}
	n, err := parseHierarchicalLimit(data)
	switch {
	case err != nil:
		if visible.Err == nil {
			visible.Err = g.fs.at(p.Dir, "memory.stat", err)
		}
		return visible
	case n >= v1Unlimited:
		return MemoryLimit{State: Unlimited}
	}
	limit := MemoryLimit{State: Limited, Bytes: n}
	if visible.State == Limited && visible.Bytes == n {
		limit.Dir = visible.Dir
	}
	return limit
}

// memoryLimitOf returns the limit that is set in dir, in bytes.
func (f FS) memoryLimitOf(version Version, dir string) (n int64, limited bool, err error) {
	name := "memory.max"
	if version == V1 {
		name = "memory.limit_in_bytes"
	}
	data, err := f.read(dir, name)
	if err != nil || data == nil {
		return 0, false, err
	}
	n, unlimited, err := parseMax(data)
	if err != nil {
		return 0, false, f.at(dir, name, err)
	}
	if version == V1 && n >= v1Unlimited {
		unlimited = true
	}
	return n, !unlimited, nil
}

// parseHierarchicalLimit returns hierarchical_memory_limit, in bytes, of a v1
// memory.stat.
func parseHierarchicalLimit(b []byte) (int64, error) {
	for len(b) > 0 {
		key, value, rest, err := nextKey(b)
		if err != nil {
			return 0, err
		}
		if string(key) == "hierarchical_memory_limit" {
			return parseInt(value)
		}
		b = rest
	}
	return 0, fmt.Errorf("%w: no hierarchical_memory_limit", ErrMalformed)
}
