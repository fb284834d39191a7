package runtimes

import "fmt"

// Told predicts what a runtime answers to a program that asks for the number of
// CPUs, by which libraries size their pools, and names the call. ok is false
// where the runtime has no such call of its own, or Default says all.
func Told(info Info, limit Limit, m Machine) (n int, call, why string, ok bool) {
	switch info.Runtime {
	case Node:
		n, why = nodeTold(info, limit, m)
		return n, "os.availableParallelism()", why, true
	case Bun:
		n, why = bunTold(info, limit, m)
		return n, "os.availableParallelism()", why, true
	case Deno:
		n, why = available("Deno", limit, m)
		return n, "navigator.hardwareConcurrency", why, true
	case Python:
		if n, set := positive(info.Env["PYTHON_CPU_COUNT"]); set && atLeast(info.Version, 3, 13) {
			return n, "os.cpu_count()", fmt.Sprintf("PYTHON_CPU_COUNT=%d is set", n), true
		}
		n = max(m.Online, 1)
		return n, "os.cpu_count()", fmt.Sprintf("the host's %d CPUs, whatever the limit and the affinity", n), true
	case Ruby:
		n = m.affinity()
		return n, "Etc.nprocessors", fmt.Sprintf("the affinity mask's %d CPUs, whatever the limit", n), true
	}
	return 0, "", "", false
}

// nodeTold follows uv_available_parallelism in libuv's src/unix/core.c.
func nodeTold(info Info, limit Limit, m Machine) (int, string) {
	affinity := m.affinity()
	uv := nodeLibuv(info)
	if uv == "" && limit.CPUs > 0 {
		return min(affinity, max(1, int(limit.CPUs))),
			"which libuv it holds is not known; from 1.51 on the limit is rounded down"
	}
	switch {
	case limit.CPUs <= 0:
		return affinity, fmt.Sprintf("no limit: all %d CPUs", affinity)
	case !atLeast(uv, 1, 49):
		return affinity, fmt.Sprintf("libuv before 1.49 does not look at cgroups: all %d CPUs", affinity)
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
		return affinity, fmt.Sprintf("libuv 1.51 takes a limit below 1 CPU for none: all %d CPUs", affinity)
	}
	return min(affinity, max(1, int(limit.CPUs))),
		fmt.Sprintf("libuv %s rounds the limit of %s down, to at least 1", uv, cpus(limit.CPUs))
}

// nodeLibuv is the version of libuv, as far as it follows from what is known:
// Node before 22.12 holds one before 1.49. Later ones differ by patch release.
func nodeLibuv(info Info) string {
	switch {
	case info.Libuv != "":
		return info.Libuv
	case info.Version != "" && !atLeast(info.Version, 22, 12):
		return "1.48"
	}
	return ""
}

// bunTold: up to 1.3.11 the host, then the limit rounded up, and down since 1.4
// (seen on 1.4.5).
func bunTold(info Info, limit Limit, m Machine) (int, string) {
	if n, ok := positive(info.Env["WTF_numberOfProcessorCores"]); ok {
		return n, fmt.Sprintf("WTF_numberOfProcessorCores=%d is set", n)
	}
	if info.Version != "" && !atLeast(info.Version, 1, 3, 12) {
		n := max(m.Online, 1)
		return n, fmt.Sprintf("Bun before 1.3.12 takes the host's %d CPUs, whatever the limit and the affinity", n)
	}
	affinity := m.affinity()
	switch {
	case limit.CPUs <= 0:
		return affinity, fmt.Sprintf("no limit: all %d CPUs", affinity)
	case atLeast(info.Version, 1, 4):
		return min(affinity, max(1, int(limit.CPUs))), fmt.Sprintf("Bun rounds the limit of %s down, to at least 1", cpus(limit.CPUs))
	}
	return min(affinity, ceil(limit.CPUs)), fmt.Sprintf("Bun before 1.4 rounds the limit of %s up", cpus(limit.CPUs))
}
