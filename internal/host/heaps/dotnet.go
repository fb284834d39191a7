package heaps

import (
	"fmt"

	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// collectorOf returns a setting of a .NET process's garbage collector.
func collectorOf(p inspect.Process, variable, property string) runtimes.Collector {
	if p.RuntimeConfig == nil {
		return runtimes.CollectorOf(p.Info, variable, property, "", nil)
	}
	return runtimes.CollectorOf(p.Info, variable, property, p.RuntimeConfig.File, p.RuntimeConfig.Properties)
}

// dotnetHeap: GCHeapHardLimit is in bytes and GCHeapHardLimitPercent in percent of the
// limit. Without them the limit in a container is the greater of 20 MiB and 75% of the
// memory limit. Limits for each of the object heaps replace both; their sum is not
// computed here (.NET, "Runtime configuration options for garbage collection").
func dotnetHeap(p inspect.Process) Limit {
	for _, kind := range []string{"HeapHardLimitSOH", "HeapHardLimitSOHPercent"} {
		if collectorOf(p, "GC"+kind, kind).Value > 0 {
			return Limit{}
		}
	}
	if c := collectorOf(p, "GCHeapHardLimit", "HeapHardLimit"); c.Value > 0 {
		return Limit{Bytes: c.Value, Source: runtimes.Declared}.setBy(p, c)
	}
	if p.Memory.Limit <= 0 {
		return Limit{}
	}
	if c := collectorOf(p, "GCHeapHardLimitPercent", "HeapHardLimitPercent"); c.Value > 0 && c.Value < 100 {
		return Limit{Bytes: p.Memory.Limit / 100 * c.Value, Source: runtimes.Predicted,
			From: fmt.Sprintf("%d%% of the memory limit", c.Value)}.setBy(p, c)
	}
	from := ".NET takes 75% of the memory limit"
	if p.RuntimeConfig == nil {
		from += ", unless runtimeconfig.json, which was not read, sets it"
	}
	return Limit{Bytes: max(20<<20, p.Memory.Limit/4*3), Source: runtimes.Predicted, From: from}
}

// setBy adds where a .NET process has the setting.
func (h Limit) setBy(p inspect.Process, c runtimes.Collector) Limit {
	h.By, h.File = c.By, c.File
	if c.File == "" {
		h.Where, h.Option = c.By, p.Info.Env[c.By]
	}
	return h
}

// Collector describes the settings of a .NET process's collector that change how much
// memory it uses.
func Collector(p inspect.Process) []string {
	var all []string
	processors := p.Info.Parallelism.Value
	switch c := collectorOf(p, "gcServer", "Server"); {
	case c.Value > 0 && processors == 1:
		all = append(all, fmt.Sprintf("workstation collector: %s sets the server collector, but there is 1 processor", c))
	case c.Value > 0 && processors > 1:
		all = append(all, fmt.Sprintf("server collector (%s), which has up to a heap for each of %d processors", c, processors))
	case c.Value > 0:
		all = append(all, fmt.Sprintf("server collector (%s)", c))
	case p.RuntimeConfig != nil:
		all = append(all, "workstation collector")
	}
	if c := collectorOf(p, "gcConcurrent", "Concurrent"); c.Set() && c.Value == 0 {
		all = append(all, fmt.Sprintf("no background collection (%s)", c))
	}
	if c := collectorOf(p, "GCConserveMemory", "ConserveMemory"); c.Value > 0 {
		all = append(all, fmt.Sprintf("it conserves memory at level %d of 9 (%s)", c.Value, c))
	}
	return all
}

// CollectorWith describes how another number of processors changes the garbage collector; "":
// not. The JVM takes Serial with one processor (or below 1,792 MiB), else G1
// (os::is_server_class_machine in HotSpot); .NET takes its workstation collector with one.
func CollectorWith(p inspect.Process, processors int) string {
	if processors != 1 && p.Info.Parallelism.Value != 1 {
		return ""
	}
	switch p.Info.Runtime {
	case runtimes.JVM:
		return "; unless -XX:+Use…GC is set, the JVM takes the collector Serial with 1 processor, and G1 from 2 processors and 1,792 MiB on"
	case runtimes.DotNet:
		return oneProcessor(p)
	}
	return ""
}

// oneProcessor describes what the collector of a .NET process does with 1 processor; ""
// for one that has the workstation collector with any number.
func oneProcessor(p inspect.Process) string {
	c := collectorOf(p, "gcServer", "Server")
	switch {
	case c.Value > 0:
		return fmt.Sprintf("; with 1 processor .NET takes its workstation collector, although %s sets the server collector", c)
	case p.RuntimeConfig == nil && !c.Set():
		return "; with 1 processor .NET takes its workstation collector, even where the server collector is set"
	}
	return ""
}
