package doctor

import (
	"fmt"

	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

const (
	// near and full are the shares of the memory limit in use, without droppable page
	// cache, from which the service is close to being killed.
	near, full = 0.9, 0.97
)

// shortOfMemory returns the findings about groups that are near their memory limit
// or had processes killed, each about the process that represents its group.
func shortOfMemory(host inspect.Host) []Finding {
	var all []Finding
	reported := map[string]bool{} // groups that set a limit: their usage is reported once
	for _, s := range byGroup(host, func(p inspect.Process) (string, bool) { return p.Memory.Group, p.Memory.State == inspect.Limited }) {
		all = append(all, s.killed(host)...)
		if name := s.Memory.SetBy; name == "" || !reported[name] {
			reported[name] = true
			all = append(all, s.nearItsMemory(host)...)
		}
	}
	return all
}

// killed is the finding about a group whose processes were killed.
func (s service) killed(host inspect.Host) []Finding {
	if s.Memory.OOMKills == nil || *s.Memory.OOMKills == 0 {
		return nil
	}
	f := s.finding(Critical)
	f.weight = 1
	f.Title = fmt.Sprintf("the kernel killed %s of its group: out of memory", count(*s.Memory.OOMKills, "process", "processes"))
	f.Evidence, f.Fix = append(s.inUse(), s.heapSeen()...), s.lessMemory(host)
	return []Finding{f}
}

// nearItsMemory is the finding about a group that is near its limit.
func (s service) nearItsMemory(host inspect.Host) []Finding {
	if s.Memory.WorkingSet == nil || s.Memory.Limit <= 0 {
		return nil
	}
	share := float64(*s.Memory.WorkingSet) / float64(s.Memory.Limit)
	if share < near {
		return nil
	}
	f := s.finding(Warning)
	if share >= full {
		f.Level = Critical
	}
	f.weight = share
	f.Title = fmt.Sprintf("uses %s of its memory limit of %s", display.Share(share), size(s.Memory.Limit))
	f.Evidence, f.Fix = append(s.inUse(), s.heapSeen()...), s.lessMemory(host)
	return []Finding{f}
}

// inUse describes the limit, which group sets it, and how much of it is in use.
func (s service) inUse() []string {
	m := s.Memory
	by := "set by a group that is not visible from here"
	switch {
	case m.SetBy == m.Group:
		by = "set by its own group " + m.Group
	case m.SetBy != "":
		by = fmt.Sprintf("set by %s, above its own group %s", m.SetBy, m.Group)
	}
	all := []string{fmt.Sprintf("memory limit of %s %s", size(m.Limit), by)}
	if m.WorkingSet != nil {
		all = append(all, size(*m.WorkingSet)+" working set (in use, without page cache that the kernel can drop)")
	}
	return all
}

// roomy is the share of a memory limit that a heap may take: the rest is for what
// runtimes keep outside of the heap, such as stacks, code and buffers.
const roomy = 0.75

// outside names the memory that counts towards the limit but is not in the heap.
var outside = map[runtimes.Name]string{
	runtimes.Go:   "cgo, mapped files",
	runtimes.Node: "Buffers, native modules, worker threads",
	runtimes.JVM:  "metaspace, thread stacks, direct buffers",
}

// shown is how to read the maximum heap size from inside the process: without a
// setting, the runtime chooses it by its version and the memory that it detects.
var shown = map[runtimes.Name]string{
	runtimes.Node: "v8.getHeapStatistics().heap_size_limit",
	runtimes.JVM:  "MaxHeapSize in jcmd PID VM.flags",
}

// heapSeen is what is known of the maximum heap size; nil if the runtime has none.
func (s service) heapSeen() []string {
	bytes, by := declaredHeap(s.Process)
	switch {
	case bytes > 0:
		return []string{fmt.Sprintf("%s is %s", by, size(bytes))}
	case shown[s.Info.Runtime] != "":
		return []string{fmt.Sprintf("the maximum heap size cannot be read from outside: %s shows it", shown[s.Info.Runtime])}
	}
	return nil
}

// lessMemory is the change for a process that is short of memory. It never raises
// the maximum heap size: the runtime may have chosen one far below the limit, and
// with a larger heap the memory outside of it gets the process killed.
func (s service) lessMemory(host inspect.Host) []string {
	const or = "; or raise the memory limit"
	bytes, by := declaredHeap(s.Process)
	limit := s.Memory.Limit
	const raise = "Raise the memory limit, or reduce that memory."
	outside := outside[s.Info.Runtime]
	switch s.Info.Runtime {
	case runtimes.Go:
		most := int64(float64(limit) * near)
		unset := s.Info.Env["GOMEMLIMIT"] == "" && (s.Info.Go == nil || s.Info.Go.Automemlimit == "")
		switch {
		case unset || bytes > most:
			return []string{s.sharing(host, "GOMEMLIMIT", fmt.Sprintf("try GOMEMLIMIT=%dMiB, so that the collector keeps below the limit", most>>20)) + or}
		case bytes > 0:
			return []string{fmt.Sprintf("%s is already below the limit. Likely causes: live data above that value, or memory outside the heap (%s). %s", by, outside, raise)}
		}
	case runtimes.Node, runtimes.JVM:
		switch {
		case bytes > limit:
			return []string{s.sharing(host, by, fmt.Sprintf("if the live heap fits into it, lower %s to %d MiB where it is set, which leaves room for memory outside the heap",
				by, int64(float64(limit)*roomy)>>20)) + or}
		case float64(bytes) > roomy*float64(limit):
			return []string{fmt.Sprintf("raise the memory limit: the maximum heap size leaves %s of it for memory outside the heap (%s); or lower %s if the heap does not need as much",
				size(limit-bytes), outside, by)}
		case bytes > 0:
			return []string{fmt.Sprintf("%s is well below the limit. Likely cause: memory outside the heap (%s). %s", by, outside, raise)}
		}
		return []string{"raise the memory limit, or use less memory; if the maximum heap size is well below the limit, " +
			fmt.Sprintf("memory outside the heap (%s) is the likely cause, and a larger heap makes it worse", outside)}
	}
	return []string{"raise the memory limit, or use less memory"}
}

// sharing returns a figure for one process's heap, unless several processes share
// the limit: then each may use only a part of it.
func (s service) sharing(host inspect.Host, setting, figure string) string {
	n := int64(0)
	for _, p := range host.Processes {
		if p.Memory.State == inspect.Limited && p.Memory.SetBy == s.Memory.SetBy && (s.Memory.SetBy != "" || p.Memory.Group == s.Memory.Group) {
			n++
		}
	}
	switch {
	case n > 1:
		return fmt.Sprintf("%s share the limit: set %s so that all of them fit into it", count(n, "process", "processes"), setting)
	case host.Partial:
		return "if no other process shares the limit: " + figure
	}
	return figure
}

func size(bytes int64) string { return display.Bytes(float64(bytes)) }

func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return display.Grouped(n) + " " + many
}
