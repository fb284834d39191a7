// Package heaps finds the maximum size of the heap of a process: what its runtime reports,
// what the options set, or what the runtime's rule gives under the memory limit. It reads
// nothing itself; package inspect has read the process.
package heaps

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/caches"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// Limit is the maximum heap size of a process.
type Limit struct {
	Bytes  int64           // 0: not known
	Source runtimes.Source // read, declared, or predicted by the runtime's rule
	By     string          // the option that sets it; "" for the runtime's own rule
	Where  string          // the variable that contains the option; "": the command
	File   string          // the file that contains it instead
	Option string          // as it is written there
	From   string          // for a figure that was read or predicted, in words
}

func (h Limit) String() string {
	text := "maximum heap size " + size(h.Bytes)
	switch h.Source {
	case runtimes.Read:
		text += ", read from " + h.From
	case runtimes.Predicted:
		text += ", predicted: " + h.From
	default:
		return fmt.Sprintf("%s is %s", h.Setting(), size(h.Bytes))
	}
	if h.By != "" {
		text += "; set by " + h.Setting()
	}
	return text
}

// Setting is the option, with its file where it has one.
func (h Limit) Setting() string {
	if h.File != "" {
		return h.By + " in " + h.File
	}
	return h.By
}

// Of returns the maximum heap size of a process: what the runtime reports, else
// what the options set, else what the runtime's rule gives under the memory limit.
func Of(p inspect.Process) Limit {
	var h Limit
	switch p.Info.Runtime {
	case runtimes.Go:
		if n, ok := caches.GoSize(p.Info.Env["GOMEMLIMIT"]); ok {
			h = Limit{Bytes: n, Source: runtimes.Declared, By: "GOMEMLIMIT", Where: "GOMEMLIMIT", Option: p.Info.Env["GOMEMLIMIT"]}
		}
	case runtimes.Node:
		h = nodeHeap(p)
	case runtimes.JVM:
		h = javaHeap(p)
	case runtimes.DotNet:
		h = dotnetHeap(p)
	}
	if p.Heap != nil {
		h.Bytes, h.Source, h.From = p.Heap.Max, runtimes.Read, p.Heap.From
	}
	return h
}

// nodeHeap: the command overrides NODE_OPTIONS, and the last option counts. Without one,
// V8 takes half of the memory that Node detects, up to 2 GiB (4 GiB from 15 GiB on) for
// the old space of a 64-bit process (Heap::HeapSizeFromPhysicalMemory in V8's
// src/heap/heap.cc); since Node 20 that is the limit. Seen on Node 20.20: 259 MiB with
// the young space under 512 MiB.
func nodeHeap(p inspect.Process) (h Limit) {
	read := func(where string, options []string) {
		for _, option := range options {
			name, value, _ := strings.Cut(strings.ReplaceAll(option, "_", "-"), "=")
			if n, err := strconv.ParseInt(value, 10, 32); err == nil && name == "--max-old-space-size" {
				h = Limit{Bytes: n << 20, Source: runtimes.Declared, By: name, Where: where, Option: option}
			}
		}
	}
	read("NODE_OPTIONS", strings.Fields(p.Info.Env["NODE_OPTIONS"]))
	read("", leading(p.Command))
	major, _, _ := strings.Cut(p.Info.Version, ".")
	if n, err := strconv.Atoi(major); h.Bytes == 0 && err == nil && n >= 20 && p.Memory.Limit > 0 {
		most := int64(2 << 30)
		if p.Memory.Limit >= 15<<30 {
			most = 4 << 30
		}
		h = Limit{Bytes: min(p.Memory.Limit/2, most), Source: runtimes.Predicted, From: "V8 takes half of the memory limit, up to " + size(most)}
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
func javaHeap(p inspect.Process) Limit {
	const small = 1248 << 20 / 10 // MaxHeapSize's default, 96 MiB scaled to 64 bits
	var xmx, share, least Limit
	percent := map[*Limit]float64{&share: 25, &least: 50}
	read := func(where string, options []string) {
		for _, option := range options {
			for _, name := range []string{"-Xmx", "-XX:MaxHeapSize="} { // synonyms
				value, ok := strings.CutPrefix(option, name)
				if n, isSize := caches.JavaSize(value); ok && isSize {
					xmx = Limit{Bytes: n, Source: runtimes.Declared, By: strings.TrimSuffix(name, "="), Where: where, Option: option}
				}
			}
			for name, to := range map[string]*Limit{"-XX:MaxRAMPercentage=": &share, "-XX:MinRAMPercentage=": &least} {
				value, ok := strings.CutPrefix(option, name)
				if n, err := strconv.ParseFloat(value, 64); ok && err == nil && n > 0 && n <= 100 {
					*to, percent[to] = Limit{By: strings.TrimSuffix(name, "="), Where: where, Option: option}, n
				}
			}
		}
	}
	read("JAVA_TOOL_OPTIONS", strings.Fields(p.Info.Env["JAVA_TOOL_OPTIONS"]))
	read("JDK_JAVA_OPTIONS", strings.Fields(p.Info.Env["JDK_JAVA_OPTIONS"]))
	read("", runtimes.JavaOptions(p.Command))
	read("_JAVA_OPTIONS", strings.Fields(p.Info.Env["_JAVA_OPTIONS"]))
	if xmx.Bytes > 0 || p.Memory.Limit <= 0 {
		return xmx
	}
	limit := float64(p.Memory.Limit)
	h := share
	h.Bytes, h.From = max(int64(limit*percent[&share]/100), small), fmt.Sprintf("the JVM takes %v%% of the memory limit", percent[&share])
	if n := int64(limit * percent[&least] / 100); n < small {
		h = least
		h.Bytes, h.From = n, fmt.Sprintf("the JVM takes %v%% of a small memory limit (MinRAMPercentage)", percent[&least])
	}
	h.Source = runtimes.Predicted
	return h
}

// Place names where an option is set.
func (h Limit) Place() string {
	switch {
	case h.File != "":
		return " (" + h.File + ")"
	case h.Where == "":
		return " (the command)"
	}
	return " (" + h.Where + ")"
}

func size(bytes int64) string { return display.Bytes(float64(bytes)) }
