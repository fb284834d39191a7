package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/heaps"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

const (
	// near and full are the shares of the memory limit in use, without page cache, from which
	// the service is close to being killed.
	near, full = 0.9, 0.97
)

// shortOfMemory returns the findings about groups that are near their memory limit
// or had processes killed, each about the process that represents its group.
func shortOfMemory(host inspect.Host) []Finding {
	var all []Finding
	for _, s := range byGroup(host, func(p inspect.Process) (string, bool) { return p.Memory.Group, p.Memory.State == inspect.Limited }) {
		all = append(all, s.killed(host)...)
	}
	for _, s := range byBound(host) {
		found := s.nearItsMemory(host)
		if found == nil {
			found = s.stalls(host)
		}
		all = append(all, found...)
	}
	return all
}

// byBound returns the memory bounds in the order of their first processes, each with the process
// that has most memory of its own below it.
func byBound(host inspect.Host) (all []service) {
	type key struct {
		group string
		high  bool
	}
	below := map[key][]inspect.Process{}
	var order []key
	for _, p := range host.Processes {
		for _, m := range append([]inspect.Memory{p.Memory}, p.Bounds...) {
			if m.State != inspect.Limited || m.Limit <= 0 {
				continue
			}
			k := key{cmp.Or(m.SetBy, m.Group), m.High}
			if below[k] == nil {
				order = append(order, k)
			}
			p.Memory = m
			below[k] = append(below[k], p)
		}
	}
	for _, k := range order {
		main := inspect.Foremost(below[k])
		for _, p := range below[k] {
			if p.Anon > main.Anon {
				main = p
			}
		}
		s := process(host, &main)
		s.members = len(below[k])
		all = append(all, s)
	}
	return all
}

// lately is how long ago a kill counts as one of now.
const lately = time.Hour

// killed is the finding about a group whose processes were killed. Its counter starts at 0
// when the group is created again, so kills of earlier runs are taken from the kernel's log.
func (s service) killed(host inspect.Host) []Finding {
	counted := int64(0)
	if s.Memory.OOMKills != nil {
		counted = *s.Memory.OOMKills
	}
	kills := s.kills(host)
	logged := int64(len(kills))
	if counted == 0 && logged == 0 {
		return nil
	}
	f := s.ofMemory(Critical, KilledForMemory)
	f.weight = 1
	f.Title = fmt.Sprintf("the kernel killed %s of its group: out of memory", count(counted, "process", "processes"))
	if counted == 0 {
		f.Title = fmt.Sprintf("the kernel killed %s of earlier runs of its group or pod: out of memory", count(logged, "process", "processes"))
	}
	if logged > 0 {
		last := kills[0].Ago
		f.Title += fmt.Sprintf(", the last one %s ago", ago(last))
		if last > lately {
			f.Level = Warning
		}
	}
	f.Evidence = append(append(s.inUse(), s.heapSeen()...), s.history(host)...)
	s.lessMemory(host, &f)
	if other := s.killedOther(host); other != "" {
		f.Fix = []string{fmt.Sprintf("raise the memory limit, or use less memory in %s: it was killed, and a smaller heap of %s does not bound it", other, s.Name)}
		f.Changes = f.Changes[len(f.Changes)-1:] // the higher limit
		f.Expect = Effect{Saturated: other + " survives", Ordinary: other + " survives"}
	}
	return []Finding{f}
}

// killedOther is the name of the program that was killed last, if no process that is still
// in the group has a name of those that were killed: it was started for a while, and the
// heap of the process that the finding is about is not the cause.
func (s service) killedOther(host inspect.Host) string {
	kills := s.kills(host)
	if len(kills) == 0 {
		return ""
	}
	for _, p := range host.Processes {
		if p.Memory.Group == s.Memory.Group && slices.ContainsFunc(kills, func(k inspect.Kill) bool { return k.Name == p.Name }) {
			return ""
		}
	}
	return kills[0].Name
}

// kills are the kills in the kernel's log that concern the group: in itself, and of
// processes with a name of its own in a group of its pod that does not exist any more.
func (s service) kills(host inspect.Host) (all []inspect.Kill) {
	names, alive := map[string]bool{}, map[string]bool{}
	for _, p := range host.Processes {
		alive[p.Memory.Group] = true
		if p.Memory.Group == s.Memory.Group {
			names[p.Name] = true
		}
	}
	for _, k := range s.Kills {
		if k.Group == s.Memory.Group || names[k.Name] && !alive[k.Group] {
			all = append(all, k)
		}
	}
	return all
}

// history describes the kills in the kernel's log and the restarts.
func (s service) history(host inspect.Host) (all []string) {
	const most = 3
	logged := s.kills(host)
	var kills []string
	for _, k := range logged[:min(most, len(logged))] {
		text := fmt.Sprintf("%s (pid %d) %s ago", k.Name, k.PID, ago(k.Ago))
		if k.Group != s.Memory.Group {
			text += " in " + k.Group
		}
		kills = append(kills, text)
	}
	if len(kills) > 0 {
		text := "killed according to the kernel's log: " + strings.Join(kills, ", ")
		if more := len(logged) - most; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		all = append(all, text)
	}
	if r := s.Restarts; r != nil && (r.Count > 0 || r.OutOfMemory) {
		text := "its container was restarted " + count(int64(r.Count), "time", "times")
		if r.OutOfMemory {
			text += ", and ended because memory ran out"
		}
		all = append(all, text+" ("+r.From+")")
	}
	return all
}

// ago writes how long ago something was: 45 s, 12 min, 3 h, 2 d.
func ago(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}

// nearItsMemory is the finding about a group that is near its limit.
func (s service) nearItsMemory(host inspect.Host) []Finding {
	if s.Memory.Unreclaimable == nil || s.Memory.High {
		return nil
	}
	share := float64(*s.Memory.Unreclaimable) / float64(s.Memory.Limit)
	if share < near {
		return nil
	}
	f := s.ofMemory(Warning, NearMemoryLimit)
	if share >= full {
		f.Level = Critical
	}
	f.weight = share
	f.Title = fmt.Sprintf("uses %s of its memory limit of %s", display.Share(share), size(s.Memory.Limit))
	f.Evidence = append(append(s.inUse(), s.heapSeen()...), s.history(host)...)
	s.lessMemory(host, &f)
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
	what := "memory limit"
	if m.High {
		what = "memory.high"
	}
	all := []string{fmt.Sprintf("%s of %s %s", what, size(m.Limit), by)}
	if m.Unreclaimable != nil {
		text := size(*m.Unreclaimable) + " in use without page cache"
		if m.Current != nil {
			text += ", " + size(*m.Current) + " with it"
		}
		all = append(all, text)
	}
	if text := waited(m); text != "" {
		all = append(all, text)
	}
	return all
}

// roomy is the share of a memory limit that a heap may take: the rest is for what
// runtimes keep outside of the heap, such as stacks, code and buffers.
const roomy = 0.75

// memlimit is the package that sets GOMEMLIMIT to the same share of the limit.
const memlimit = "github.com/millicore/millicore/maxprocs/memlimit/auto"

// outside names the memory that counts towards the limit but is not in the heap.
var outside = map[runtimes.Name]string{
	runtimes.Go:   "cgo, mapped files",
	runtimes.Node: "Buffers, native modules, worker threads",
	runtimes.JVM:  "metaspace, thread stacks, direct buffers",

	runtimes.DotNet: "native libraries, thread stacks, code",
}

// shown is how to read the maximum heap size from inside the process: without a
// setting, the runtime chooses it by its version and the memory that it detects.
var shown = map[runtimes.Name]string{
	runtimes.Node: "v8.getHeapStatistics().heap_size_limit",
	runtimes.JVM:  "MaxHeapSize in jcmd PID VM.flags",
}

// heapSeen is what is known of the maximum heap size; nil if the runtime has none.
func (s service) heapSeen() []string {
	h := heaps.Of(s.Process)
	all := []string{}
	if h.Bytes > 0 {
		all = append(all, h.String())
	}
	if h.Source != runtimes.Read && h.Source != runtimes.Declared && shown[s.Info.Runtime] != "" {
		all = append(all, fmt.Sprintf("the maximum heap size in use could not be read from outside: %s shows it", shown[s.Info.Runtime]))
	}
	if s.Info.Runtime == runtimes.DotNet {
		all = append(all, heaps.Collector(s.Process)...)
	}
	return all
}

// lessMemory completes a finding about a process that is short of memory. It never
// raises the maximum heap size: the runtime may have chosen one far below the limit, and
// with a larger heap the memory outside of it gets the process killed.
func (s service) lessMemory(host inspect.Host, f *Finding) {
	raise := "raise the memory limit"
	if s.Memory.High {
		raise = "raise memory.high"
	}
	or := "; or " + raise
	h := heaps.Of(s.Process)
	limit := s.Memory.Limit
	outsideIt := strings.ToUpper(raise[:1]) + raise[1:] + ", or reduce that memory."
	outside := outside[s.Info.Runtime]
	f.Mechanism = "at the limit the kernel reclaims memory, and then kills a process of the group"
	f.Expect = Effect{Saturated: "the service survives", Ordinary: "the service survives"}
	higher := Change{Memory: (s.Memory.Limit/4*5 + 1<<20 - 1) >> 20 << 20}
	set := func(text string, changes ...Change) {
		if f.Fix = []string{text}; !s.Memory.High { // which no object has as a value
			changes = append(changes, higher)
		}
		f.Changes = changes
	}
	alone := s.sharers(host) <= 1
	switch s.Info.Runtime {
	case runtimes.Go:
		most := int64(float64(limit) * near)
		unset := s.Info.Env["GOMEMLIMIT"] == "" && (s.Info.Go == nil || s.Info.Go.Automemlimit == "" && !s.Info.Go.Memlimit)
		switch {
		case s.Info.Version != "" && !runtimes.GoAtLeast(s.Info.Version, "go1.19"): // has no GOMEMLIMIT
		case (unset || h.Bytes > most) && s.heapInCode():
			set(fmt.Sprintf("if its code sets the limit of its heap (it contains debug.SetMemoryLimit, which overrides GOMEMLIMIT), set %s there%s", size(most), or))
			return
		case unset || h.Bytes > most:
			f.Expect.Saturated = "the collector runs more often near the limit, and uses more CPU time; the service survives if its live data fit"
			value := fmt.Sprintf("%dMiB", most>>20)
			text := s.sharing(host, "GOMEMLIMIT", "try GOMEMLIMIT="+value+", so that the collector keeps below the limit")
			if unset && alone {
				text += ", or import " + memlimit + ", which sets and follows the same"
			}
			text += or
			if !alone {
				set(text)
				return
			}
			set(text, Change{Env: map[string]string{"GOMEMLIMIT": value}})
			return
		case h.Bytes > 0:
			set(fmt.Sprintf("%s is already below the limit. Likely causes: live data above that value, or memory outside the heap (%s). %s", h.By, outside, outsideIt))
			return
		}
	case runtimes.Node, runtimes.JVM, runtimes.DotNet:
		switch {
		case h.By != "" && h.Bytes > limit:
			words, c := s.lowered(h, int64(float64(limit)*roomy))
			text := s.sharing(host, h.By, fmt.Sprintf("if the live heap fits into it, lower %s to %s where it is set%s, which leaves room for memory outside the heap",
				h.By, words, h.Place())) + or
			if !alone {
				set(text)
				return
			}
			set(text, c)
			return
		case float64(h.Bytes) > roomy*float64(limit) && h.By != "":
			by := h.By
			if s.Info.Runtime == runtimes.DotNet && h.Where != "" {
				by += ", whose value is hexadecimal,"
			}
			set(fmt.Sprintf(raise+": the maximum heap size leaves %s of it for memory outside the heap (%s); or lower %s if the heap does not need as much",
				size(max(0, limit-h.Bytes)), outside, by))
			return
		case h.Bytes > 0 && h.By != "" && !strings.HasSuffix(h.By, "Percentage"):
			set(fmt.Sprintf("%s is well below the limit. Likely cause: memory outside the heap (%s). %s", h.By, outside, outsideIt))
			return
		case h.Bytes > 0 && h.Source == runtimes.Read:
			set(fmt.Sprintf(raise+": the runtime's own maximum heap size is %s of %s, so memory outside the heap (%s) is the likely cause, and a larger heap makes it worse",
				size(h.Bytes), size(limit), outside))
			return
		}
		set(raise + ", or use less memory; if the maximum heap size is well below the limit, " +
			fmt.Sprintf("memory outside the heap (%s) is the likely cause, and a larger heap makes it worse", outside))
		return
	}
	set(raise + ", or use less memory")
}

// heapInCode reports whether a Go program's code can override GOMEMLIMIT.
func (s service) heapInCode() bool { return s.Info.Go != nil && s.Info.Go.HeapInCode }

// sharers counts the processes that share the memory limit.
func (s service) sharers(host inspect.Host) (n int64) {
	for _, p := range host.Processes {
		for _, m := range append([]inspect.Memory{p.Memory}, p.Bounds...) {
			if m.State == inspect.Limited && m.SetBy == s.Memory.SetBy && m.High == s.Memory.High && (m.SetBy != "" || p.Memory.Group == s.Memory.Group) {
				n++
				break
			}
		}
	}
	return n
}

// sharing returns a figure for one process's heap, unless several processes share
// the limit: then each may use only a part of it.
func (s service) sharing(host inspect.Host, setting, figure string) string {
	switch n := s.sharers(host); {
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
