package doctor

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/inspect"
	"github.com/millicore/millicore/internal/runtimes"
)

// heap is the finding about a process whose collector is told that it may keep
// more than its memory limit: it will not collect before it is killed.
func (s service) heap() []Finding {
	if s.Memory.State != inspect.Limited || s.Memory.Limit <= 0 {
		return nil
	}
	bytes, by := declaredHeap(s.Process)
	if bytes <= s.Memory.Limit {
		return nil
	}
	f := s.finding(Warning)
	f.weight = float64(bytes) / float64(s.Memory.Limit)
	f.Title = fmt.Sprintf("%s lets the heap grow to %s over a memory limit of %s", by, size(bytes), size(s.Memory.Limit))
	f.Evidence = append([]string{s.Info.String()}, s.inUse()...)
	f.Fix = s.lessMemory()
	return []Finding{f}
}

// declaredHeap is how much a runtime's heap may hold as the environment and the
// arguments say, in bytes, and which setting says so; 0 where none does.
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
				bytes, by = n<<20, name // of several the last one counts
			}
		}
	case runtimes.JVM:
		options := slices.Concat(strings.Fields(p.Info.Env["JAVA_TOOL_OPTIONS"]), strings.Fields(p.Info.Env["JDK_JAVA_OPTIONS"]),
			p.Command, strings.Fields(p.Info.Env["_JAVA_OPTIONS"]))
		for _, option := range options {
			if n, ok := javaSize(strings.TrimPrefix(option, "-Xmx")); ok && strings.HasPrefix(option, "-Xmx") {
				bytes, by = n, "-Xmx"
			}
		}
	}
	return bytes, by
}

// goSize reads GOMEMLIMIT: a number with one of the units B, KiB, MiB, GiB, TiB,
// or none; "off" is no limit, and the default. Package runtime, "Environment
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

// javaSize reads a size as the JVM does: a number with k, m, g or t, or none.
func javaSize(text string) (int64, bool) {
	for i, unit := range []string{"k", "m", "g", "t"} {
		if number, ok := strings.CutSuffix(strings.ToLower(text), unit); ok {
			return shifted(number, 10*(i+1))
		}
	}
	return shifted(text, 0)
}

// shifted reads a number of 2^by; it is not ok if there is none that fits.
func shifted(number string, by int) (int64, bool) {
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>by {
		return 0, false
	}
	return n << by, true
}
