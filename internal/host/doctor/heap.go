package doctor

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// heap is the finding about a process whose maximum heap size exceeds its memory
// limit: the kernel kills it before the collector reacts.
func (s service) heap(host inspect.Host) []Finding {
	if s.Memory.State != inspect.Limited || s.Memory.Limit <= 0 {
		return nil
	}
	bytes, by := declaredHeap(s.Process)
	if bytes <= s.Memory.Limit {
		return nil
	}
	f := s.finding(Warning)
	f.weight = float64(bytes) / float64(s.Memory.Limit)
	f.Title = fmt.Sprintf("%s allows a heap of %s, above the memory limit of %s", by, size(bytes), size(s.Memory.Limit))
	f.Evidence = append([]string{s.Info.String()}, s.inUse()...)
	f.Fix = s.lessMemory(host)
	return []Finding{f}
}

// declaredHeap returns the maximum heap size that the environment and the arguments
// set, in bytes, and the name of the setting; 0 if none is set.
func declaredHeap(p inspect.Process) (bytes int64, by string) {
	switch p.Info.Runtime {
	case runtimes.Go:
		if n, ok := goSize(p.Info.Env["GOMEMLIMIT"]); ok {
			return n, "GOMEMLIMIT"
		}
	case runtimes.Node:
		for _, option := range slices.Concat(strings.Fields(p.Info.Env["NODE_OPTIONS"]), p.Command) {
			name, value, _ := strings.Cut(strings.ReplaceAll(option, "_", "-"), "=")
			if n, err := strconv.ParseInt(value, 10, 32); err == nil && name == "--max-old-space-size" {
				bytes, by = n<<20, name // the last one wins
			}
		}
	case runtimes.JVM:
		options := slices.Concat(strings.Fields(p.Info.Env["JAVA_TOOL_OPTIONS"]), strings.Fields(p.Info.Env["JDK_JAVA_OPTIONS"]),
			p.Command, strings.Fields(p.Info.Env["_JAVA_OPTIONS"]))
		for _, option := range options {
			for _, name := range []string{"-Xmx", "-XX:MaxHeapSize="} { // synonyms
				value, ok := strings.CutPrefix(option, name)
				if n, isSize := javaSize(value); ok && isSize {
					bytes, by = n, strings.TrimSuffix(name, "=")
				}
			}
		}
	}
	return bytes, by
}

// goSize parses GOMEMLIMIT: a number, with or without one of the units B, KiB, MiB,
// GiB, TiB. "off", the default, is not a size. Package runtime, "Environment
// Variables".
func goSize(text string) (int64, bool) {
	units := []string{"KiB", "MiB", "GiB", "TiB"}
	for i, unit := range units {
		if number, ok := strings.CutSuffix(text, unit); ok {
			return shifted(number, 10*(i+1))
		}
	}
	return shifted(strings.TrimSuffix(text, "B"), 0)
}

// javaSize parses a size as the JVM does: a number, with or without k, m, g or t.
func javaSize(text string) (int64, bool) {
	for i, unit := range []string{"k", "m", "g", "t"} {
		if number, ok := strings.CutSuffix(strings.ToLower(text), unit); ok {
			return shifted(number, 10*(i+1))
		}
	}
	return shifted(text, 0)
}

// shifted parses a number and multiplies it by 2^by. ok is false if it is not a
// number or does not fit into an int64.
func shifted(number string, by int) (int64, bool) {
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>by {
		return 0, false
	}
	return n << by, true
}
