package runtimes

import (
	"fmt"

	"github.com/millicore/millicore/internal/data/display"
)

// Reported predicts the number of CPUs that a runtime reports to programs, by which
// libraries size their pools, and names the call. ok is false if the runtime has no
// such call, or if the number is that of Default.
func Reported(info Info, limit Limit, m Machine) (n int, call, why string, ok bool) {
	switch info.Runtime {
	case Node:
		n, why = nodeReported(info, limit, m)
		return n, "os.availableParallelism()", why, true
	case Bun:
		n, why = bunReported(info, limit, m)
		return n, "os.availableParallelism()", why, true
	case Deno:
		n, why = available("Deno", limit, m)
		return n, "navigator.hardwareConcurrency", why, true
	case Python:
		if n, set := positive(info.Env["PYTHON_CPU_COUNT"]); set && atLeast(info.Version, 3, 13) {
			return n, "os.cpu_count()", fmt.Sprintf("PYTHON_CPU_COUNT=%d is set", n), true
		}
		n = max(m.Online, 1)
		return n, "os.cpu_count()", fmt.Sprintf("the host's %d CPUs, regardless of limit and affinity", n), true
	case Ruby:
		n = m.affinity()
		return n, "Etc.nprocessors", fmt.Sprintf("the affinity mask's %d CPUs, regardless of the limit", n), true
	}
	return 0, "", "", false
}

// nodeReported follows uv_available_parallelism in libuv's src/unix/core.c.
func nodeReported(info Info, limit Limit, m Machine) (int, string) {
	affinity := m.affinity()
	uv := nodeLibuv(info)
	if uv == "" && limit.CPUs > 0 {
		return min(affinity, max(1, int(limit.CPUs))),
			"its version of libuv is not known; libuv 1.51 and later round the limit down"
	}
	switch {
	case limit.CPUs <= 0:
		return affinity, fmt.Sprintf("no limit: all %d CPUs", affinity)
	case !atLeast(uv, 1, 49):
		return affinity, fmt.Sprintf("libuv before 1.49 does not read cgroups: all %d CPUs", affinity)
	case !atLeast(uv, 1, 51):
		weight := limit.Weight
		if weight <= 0 {
			weight = 100
		}
		n := min(float64(affinity), limit.Leaf*weight/100)
		if limit.Leaf <= 0 {
			n = float64(affinity)
		}
		return max(1, int(n)), fmt.Sprintf("libuv %s rounds limit x cpu.weight / 100 down", uv)
	case !atLeast(uv, 1, 52) && limit.CPUs < 1:
		return affinity, fmt.Sprintf("libuv 1.51 ignores a limit below 1 CPU: all %d CPUs", affinity)
	}
	return min(affinity, max(1, int(limit.CPUs))),
		fmt.Sprintf("libuv %s rounds the limit of %s down, to at least 1", uv, display.CPULimit(limit.CPUs))
}

// nodeLibuv is the version of libuv, "" if it is not known: Node before 22.12
// contains one before 1.49; later releases of Node differ by patch release.
func nodeLibuv(info Info) string {
	switch {
	case info.Libuv != "":
		return info.Libuv
	case info.Version != "" && !atLeast(info.Version, 22, 12):
		return "1.48"
	}
	return ""
}

// bunReported: Bun up to 1.3.11 reports the host's CPUs, later versions the limit
// rounded up, and since 1.4 rounded down (observed on 1.4.5).
func bunReported(info Info, limit Limit, m Machine) (int, string) {
	if n, ok := positive(info.Env["WTF_numberOfProcessorCores"]); ok {
		return n, fmt.Sprintf("WTF_numberOfProcessorCores=%d is set", n)
	}
	if info.Version != "" && !atLeast(info.Version, 1, 3, 12) {
		n := max(m.Online, 1)
		return n, fmt.Sprintf("Bun before 1.3.12 takes the host's %d CPUs, regardless of limit and affinity", n)
	}
	affinity := m.affinity()
	switch {
	case limit.CPUs <= 0:
		return affinity, fmt.Sprintf("no limit: all %d CPUs", affinity)
	case atLeast(info.Version, 1, 4):
		return min(affinity, max(1, int(limit.CPUs))), fmt.Sprintf("Bun rounds the limit of %s down, to at least 1", display.CPULimit(limit.CPUs))
	}
	return min(affinity, ceil(limit.CPUs)), fmt.Sprintf("Bun before 1.4 rounds the limit of %s up", display.CPULimit(limit.CPUs))
}
