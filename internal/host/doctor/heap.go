package doctor

import (
	"fmt"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/heaps"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// heap is the finding about a process whose maximum heap size exceeds its memory
// limit: the kernel kills it before the collector reacts. As long as its group is far
// from the limit and nothing was killed this is an observation, because collectors do not
// use all of their maximum: Node.js and a JVM with 1 GiB survived under 128 and 192 MiB,
// and the lower maximum cost throughput.
func (s service) heap(host inspect.Host) []Finding {
	if s.Memory.State != inspect.Limited || s.Memory.Limit <= 0 {
		return nil
	}
	h := heaps.Of(s.Process)
	if h.Bytes <= s.Memory.Limit || h.By == "" {
		return nil
	}
	f := s.ofMemory(Warning, HeapAboveLimit)
	f.weight = float64(h.Bytes) / float64(s.Memory.Limit)
	f.Title = fmt.Sprintf("%s allows a heap of %s, above the memory limit of %s", h.By, size(h.Bytes), size(s.Memory.Limit))
	f.Evidence = append([]string{s.Info.String()}, s.inUse()...)
	if h.Source == runtimes.Read {
		f.Evidence = append(f.Evidence, h.String())
	}
	f.Confidence = High
	if s.farFromTheLimit(host) {
		f.Level, f.Mechanism = Info, "if the heap grows to the limit, the kernel kills the process before the collector reacts"
		return []Finding{f}
	}
	s.lessMemory(host, &f)
	return []Finding{f}
}

// farFromTheLimit reports whether the group uses less than this share of its memory limit,
// and no process of it was killed.
func (s service) farFromTheLimit(host inspect.Host) bool {
	const far = 0.7
	killed := s.Memory.OOMKills != nil && *s.Memory.OOMKills > 0 || len(s.kills(host)) > 0
	return !killed && s.Memory.Unreclaimable != nil && float64(*s.Memory.Unreclaimable) < far*float64(s.Memory.Limit)
}

// lowered is the change of the option to a heap of n bytes, and the words for it.
func (s service) lowered(h heaps.Limit, n int64) (string, Change) {
	to := h.Lowered(s.Process, n)
	return to.Words, Change{Env: to.Env, Command: to.Command, Setting: to.Setting, File: to.File, Value: to.Value}
}

// collects says what decides whether a collector uses the CPU time of a process that uses at least
// half of a maximum heap size that is set; "": none is. The kernel does not distinguish it from the
// work of the service: a JVM with -Xmx32m under 0.7 CPUs served half of what it did with -Xmx128m.
func (s service) collects() string {
	trace := map[runtimes.Name]string{runtimes.Go: "GODEBUG=gctrace=1", runtimes.JVM: "-Xlog:gc", runtimes.Node: "--trace-gc"}[s.Info.Runtime]
	set := ""
	switch h := heaps.Of(s.Process); {
	case trace == "":
	case h.By != "" && (s.Anon == 0 || 2*s.Anon >= h.Bytes):
		set = h.By + " is " + size(h.Bytes)
	case s.heapInCode():
		set = "its code may set the limit of its heap (debug.SetMemoryLimit)"
	}
	if set == "" {
		return ""
	}
	return display.Capital(set) + ": if garbage collection uses much of the CPU time (" + trace + "), a larger heap needs less"
}
