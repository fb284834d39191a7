package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/host/caches"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// heapLimit is the maximum heap size of a process.
type heapLimit struct {
	bytes  int64           // 0: not known
	source runtimes.Source // read, declared, or predicted by the runtime's rule
	by     string          // the option that sets it; "" for the runtime's own rule
	where  string          // the variable that contains the option; "": the command
	file   string          // the file that contains it instead
	option string          // as it is written there
	from   string          // for a figure that was read or predicted, in words
}

// heap is the finding about a process whose maximum heap size exceeds its memory
// limit: the kernel kills it before the collector reacts. As long as its group is far
// from the limit and nothing was killed this is an observation, because collectors do not
// use all of their maximum: Node.js and a JVM with 1 GiB survived under 128 and 192 MiB,
// and the lower maximum cost throughput.
func (s service) heap(host inspect.Host) []Finding {
	if s.Memory.State != inspect.Limited || s.Memory.Limit <= 0 {
		return nil
	}
	h := maximumHeap(s.Process)
	if h.bytes <= s.Memory.Limit || h.by == "" {
		return nil
	}
	f := s.ofMemory(Warning, HeapAboveLimit)
	f.weight = float64(h.bytes) / float64(s.Memory.Limit)
	f.Title = fmt.Sprintf("%s allows a heap of %s, above the memory limit of %s", h.by, size(h.bytes), size(s.Memory.Limit))
	f.Evidence = append([]string{s.Info.String()}, s.inUse()...)
	if h.source == runtimes.Read {
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
	return !killed && s.Memory.WorkingSet != nil && float64(*s.Memory.WorkingSet) < far*float64(s.Memory.Limit)
}

func (h heapLimit) String() string {
	text := "maximum heap size " + size(h.bytes)
	switch h.source {
	case runtimes.Read:
		text += ", read from " + h.from
	case runtimes.Predicted:
		text += ", predicted: " + h.from
	default:
		return fmt.Sprintf("%s is %s", h.setting(), size(h.bytes))
	}
	if h.by != "" {
		text += "; set by " + h.setting()
	}
	return text
}

// setting is the option, with its file where it has one.
func (h heapLimit) setting() string {
	if h.file != "" {
		return h.by + " in " + h.file
	}
	return h.by
}

// maximumHeap returns the maximum heap size of a process: what the runtime reports, else
// what the options set, else what the runtime's rule gives under the memory limit.
func maximumHeap(p inspect.Process) heapLimit {
	var h heapLimit
	switch p.Info.Runtime {
	case runtimes.Go:
		if n, ok := caches.GoSize(p.Info.Env["GOMEMLIMIT"]); ok {
			h = heapLimit{bytes: n, source: runtimes.Declared, by: "GOMEMLIMIT", where: "GOMEMLIMIT", option: p.Info.Env["GOMEMLIMIT"]}
		}
	case runtimes.Node:
		h = nodeHeap(p)
	case runtimes.JVM:
		h = javaHeap(p)
	case runtimes.DotNet:
		h = dotnetHeap(p)
	}
	if p.Heap != nil {
		h.bytes, h.source, h.from = p.Heap.Max, runtimes.Read, p.Heap.From
	}
	return h
}

// nodeHeap: the command overrides NODE_OPTIONS, and the last option counts. Without one,
// V8 takes half of the memory that Node detects, up to 2 GiB (4 GiB from 15 GiB on) for
// the old space of a 64-bit process (Heap::HeapSizeFromPhysicalMemory in V8's
// src/heap/heap.cc); since Node 20 that is the limit. Seen on Node 20.20: 259 MiB with
// the young space under 512 MiB.
func nodeHeap(p inspect.Process) (h heapLimit) {
	read := func(where string, options []string) {
		for _, option := range options {
			name, value, _ := strings.Cut(strings.ReplaceAll(option, "_", "-"), "=")
			if n, err := strconv.ParseInt(value, 10, 32); err == nil && name == "--max-old-space-size" {
				h = heapLimit{bytes: n << 20, source: runtimes.Declared, by: name, where: where, option: option}
			}
		}
	}
	read("NODE_OPTIONS", strings.Fields(p.Info.Env["NODE_OPTIONS"]))
	read("", leading(p.Command))
	major, _, _ := strings.Cut(p.Info.Version, ".")
	if n, err := strconv.Atoi(major); h.bytes == 0 && err == nil && n >= 20 && p.Memory.Limit > 0 {
		most := int64(2 << 30)
		if p.Memory.Limit >= 15<<30 {
			most = 4 << 30
		}
		h = heapLimit{bytes: min(p.Memory.Limit/2, most), source: runtimes.Predicted, from: "V8 takes half of the memory limit, up to " + size(most)}
	}
	return h
}

// leading are the options of an interpreter itself: those before the script.
func leading(command []string) (options []string) {
	for _, arg := range command[min(1, len(command)):] {
		if !strings.HasPrefix(arg, "-") {
			break
		}
		options = append(options, arg)
	}
	return options
}

// javaHeap: -Xmx overrides the percentages wherever it is. Of several options the last
// counts, in the order JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS, command, _JAVA_OPTIONS.
// Without -Xmx the JVM takes MaxRAMPercentage of the limit (25 by default); if
// MinRAMPercentage (50) of it is below 124.8 MiB, it takes that instead
// (Arguments::set_heap_size in HotSpot's arguments.cpp).
func javaHeap(p inspect.Process) heapLimit {
	const small = 1248 << 20 / 10 // MaxHeapSize's default, 96 MiB scaled to 64 bits
	var xmx, share, least heapLimit
	percent := map[*heapLimit]float64{&share: 25, &least: 50}
	read := func(where string, options []string) {
		for _, option := range options {
			for _, name := range []string{"-Xmx", "-XX:MaxHeapSize="} { // synonyms
				value, ok := strings.CutPrefix(option, name)
				if n, isSize := caches.JavaSize(value); ok && isSize {
					xmx = heapLimit{bytes: n, source: runtimes.Declared, by: strings.TrimSuffix(name, "="), where: where, option: option}
				}
			}
			for name, to := range map[string]*heapLimit{"-XX:MaxRAMPercentage=": &share, "-XX:MinRAMPercentage=": &least} {
				value, ok := strings.CutPrefix(option, name)
				if n, err := strconv.ParseFloat(value, 64); ok && err == nil && n > 0 && n <= 100 {
					*to, percent[to] = heapLimit{by: strings.TrimSuffix(name, "="), where: where, option: option}, n
				}
			}
		}
	}
	read("JAVA_TOOL_OPTIONS", strings.Fields(p.Info.Env["JAVA_TOOL_OPTIONS"]))
	read("JDK_JAVA_OPTIONS", strings.Fields(p.Info.Env["JDK_JAVA_OPTIONS"]))
	read("", runtimes.JavaOptions(p.Command))
	read("_JAVA_OPTIONS", strings.Fields(p.Info.Env["_JAVA_OPTIONS"]))
	if xmx.bytes > 0 || p.Memory.Limit <= 0 {
		return xmx
	}
	limit := float64(p.Memory.Limit)
	h := share
	h.bytes, h.from = max(int64(limit*percent[&share]/100), small), fmt.Sprintf("the JVM takes %v%% of the memory limit", percent[&share])
	if n := int64(limit * percent[&least] / 100); n < small {
		h = least
		h.bytes, h.from = n, fmt.Sprintf("the JVM takes %v%% of a small memory limit (MinRAMPercentage)", percent[&least])
	}
	h.source = runtimes.Predicted
	return h
}

// lowered is the change of the option to a heap of n bytes, and the words for it.
func (s service) lowered(h heapLimit, n int64) (string, Change) {
	mib := strconv.FormatInt(n>>20, 10)
	var value string
	words := mib + " MiB"
	switch h.by {
	case "-Xmx":
		value = "-Xmx" + mib + "m"
	case "-XX:MaxHeapSize":
		value = "-XX:MaxHeapSize=" + mib + "m"
	case "-XX:MaxRAMPercentage", "-XX:MinRAMPercentage":
		share := strconv.FormatInt(100*n/max(1, s.Memory.Limit), 10)
		value, words = h.by+"="+share, share
	case "--max-old-space-size":
		value = h.by + "=" + mib
	case "GOMEMLIMIT":
		value = mib + "MiB"
	default: // .NET's; its variables are hexadecimal
		if strings.HasSuffix(h.by, "Percent") {
			n = 100 * n / max(1, s.Memory.Limit)
		}
		if h.file != "" {
			return strconv.FormatInt(n, 10), Change{Setting: h.by, File: h.file, Value: int(n)}
		}
		value = fmt.Sprintf("0x%X", n)
		words = value
	}
	var c Change
	if h.where == "" {
		c.Command = slices.Clone(s.Command)
		for i, arg := range c.Command {
			if arg == h.option {
				c.Command[i] = value
			}
		}
	} else {
		c.Env = map[string]string{h.where: strings.ReplaceAll(s.Info.Env[h.where], h.option, value)}
	}
	if s.Info.Runtime == runtimes.JVM && s.startLowered(n, &c) {
		words += " (and the initial size with it: a JVM whose initial size is above the maximum does not start)"
	}
	return words, c
}

// startLowered adds to a change of the JVM's maximum heap size that of the initial one, in
// each place that sets one above n bytes.
func (s service) startLowered(n int64, c *Change) (lowered bool) {
	within := func(option string) string {
		for _, name := range []string{"-Xms", "-XX:InitialHeapSize=", "-XX:MinHeapSize="} {
			value, ok := strings.CutPrefix(option, name)
			if size, isSize := caches.JavaSize(value); ok && isSize && size > n {
				return name + strconv.FormatInt(n>>20, 10) + "m"
			}
		}
		return option
	}
	for i, option := range runtimes.JavaOptions(s.Command) {
		value := within(option)
		if value == option {
			continue
		}
		if c.Command == nil {
			c.Command = slices.Clone(s.Command)
		}
		c.Command[i+1], lowered = value, true
	}
	for _, name := range []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"} {
		for _, option := range strings.Fields(s.Info.Env[name]) {
			value := within(option)
			if value == option {
				continue
			}
			if c.Env == nil {
				c.Env = map[string]string{}
			}
			c.Env[name], lowered = strings.ReplaceAll(cmp.Or(c.Env[name], s.Info.Env[name]), option, value), true
		}
	}
	return lowered
}
