package cgroup

import (
	"bytes"
	"fmt"
)

// refault begins the two lines about pages that were read again.
var refault = []byte("workingset_refault_")

// MemoryStat are the kernel's memory figures of a group and its descendants: sizes in
// bytes, and counts since the group was created.
type MemoryStat struct {
	Current Value[int64] // memory in use, including page cache and kernel memory
	Peak    Value[int64] // the highest Current so far; absent in v2 before Linux 5.19

	Anon         Value[int64] // anonymous memory: heap, stacks (v1: total_rss)
	File         Value[int64] // page cache, tmpfs and shared memory (v1: total_cache)
	InactiveFile Value[int64] // page cache that can be dropped first
	ActiveFile   Value[int64] // page cache that can be dropped after it

	// SlabReclaimable are the kernel's caches of names and inodes. Absent in v1.
	SlabReclaimable Value[int64]

	// Refaults counts the pages that were read again after they had been evicted: they
	// did not fit. Absent before Linux 5.9, which has no line of both kinds.
	Refaults Value[int64]

	// MajorFaults counts the pages that a process had to wait for until they were read from a
	// file or from swap.
	MajorFaults Value[int64]

	// HighEvents counts how often processes were held up because this group was above its own
	// memory.high. Absent in v1, and in v2 before Linux 5.2.
	HighEvents Value[int64]

	// OOMKillsLocal counts the processes of this group that the OOM killer killed.
	// Absent in v1 before Linux 4.13, in v2 before 5.2.
	OOMKillsLocal Value[int64]

	// OOMKills counts those of the group and its descendants. Absent in v1.
	OOMKills Value[int64]
}

// WorkingSet is Current minus InactiveFile, in bytes: the memory in use without
// droppable page cache, as the kubelet computes it for evictions and for
// container_memory_working_set_bytes. It is never below 0.
func (s *MemoryStat) WorkingSet() Value[int64] {
	current, ok := s.Current.Get()
	if !ok {
		return s.Current
	}
	inactive, ok := s.InactiveFile.Get()
	if !ok {
		return s.InactiveFile
	}
	return ValueOf(max(current-inactive, 0))
}

// Unreclaimable is Current without page cache and reclaimable slab, in bytes: what the kernel
// cannot drop. A group at its limit that has little of it only keeps files in memory. It is
// never below 0.
func (s *MemoryStat) Unreclaimable() Value[int64] {
	n, ok := s.Current.Get()
	if !ok {
		return s.Current
	}
	inactive, ok := s.InactiveFile.Get()
	if !ok {
		return s.InactiveFile
	}
	active, _ := s.ActiveFile.Get()
	slab, _ := s.SlabReclaimable.Get()
	return ValueOf(max(n-inactive-active-slab, 0))
}

// unreadable makes everything in s unreadable because of err.
func (s *MemoryStat) unreadable(err error) {
	size := UnreadableValue[int64](err)
	*s = MemoryStat{
		Current: size, Peak: size,
		Anon: size, File: size, InactiveFile: size, ActiveFile: size, SlabReclaimable: size, Refaults: size, MajorFaults: size,
		HighEvents: size, OOMKillsLocal: size, OOMKills: size,
	}
}

// parseMemoryStat parses memory.stat, in bytes.
//
//	v2                     v1
//	anon 7036928           total_cache 4096
//	file 4096              total_rss 7036928
//	inactive_file 4096     total_inactive_file 4096
//	active_file 4096       total_active_file 4096
//	pgmajfault 3           total_pgmajfault 3
//	slab_reclaimable 4096
//	workingset_refault_anon 0, workingset_refault_file 12; with total_ in v1
//
// Both have many more lines. Those of v1 without total_ leave out the
// descendants.
// Linux Documentation/admin-guide/cgroup-v2.rst, "memory.stat";
// Documentation/admin-guide/cgroup-v1/memory.rst, "stat file".
func parseMemoryStat(version Version, b []byte, s *MemoryStat) error {
	anon, file, inactive, active, major := "anon", "file", "inactive_file", "active_file", "pgmajfault"
	if version == V1 {
		anon, file, inactive, active, major = "total_rss", "total_cache", "total_inactive_file", "total_active_file", "total_pgmajfault"
	}
	prefix := []byte(nil)
	if version == V1 {
		prefix = []byte("total_")
	}
	for len(b) > 0 {
		key, value, rest, err := nextKey(b)
		if err != nil {
			return err
		}
		b = rest
		if name, ok := bytes.CutPrefix(key, prefix); ok && bytes.HasPrefix(name, refault) {
			var n int64
			n, err = parseInt(value)
			before, _ := s.Refaults.Get()
			s.Refaults = ValueOf(before + n)
		}
		switch string(key) {
		case anon:
			err = setCount(&s.Anon, value)
		case file:
			err = setCount(&s.File, value)
		case inactive:
			err = setCount(&s.InactiveFile, value)
		case active:
			err = setCount(&s.ActiveFile, value)
		case major:
			err = setCount(&s.MajorFaults, value)
		case "slab_reclaimable":
			err = setCount(&s.SlabReclaimable, value)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// parseMemoryEvents parses the counts oom_kill and, unless it is nil, high of memory.events,
// memory.events.local (v2) or memory.oom_control (v1).
//
//	v2           v1
//	low 0        oom_kill_disable 0
//	high 0       under_oom 0
//	max 12       oom_kill 1
//	oom 1
//	oom_kill 1
//
// v1 has it since Linux 4.13.
// Linux Documentation/admin-guide/cgroup-v2.rst, "memory.events".
func parseMemoryEvents(b []byte, kills, high *Value[int64]) error {
	for len(b) > 0 {
		key, value, rest, err := nextKey(b)
		if err != nil {
			return err
		}
		b = rest
		switch {
		case string(key) == "oom_kill":
			err = setCount(kills, value)
		case string(key) == "high" && high != nil:
			err = setCount(high, value)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}
