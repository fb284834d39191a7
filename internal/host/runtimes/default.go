package runtimes

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
)

// Limit is the CPU limit of a process, in CPUs: quota over period. 0 is no limit.
type Limit struct {
	CPUs float64 // the lowest of the process's own cgroup and its parents
	Leaf float64 // of its own cgroup only, which some runtimes read
	// Weight is cpu.weight of cgroup v2 (v1: cpu.shares x 100 / 1024), by which
	// libuv 1.49 and 1.50 multiply the quota. 0 is the default, 100.
	Weight float64
}

// LimitOf is a limit that is set on the process's own cgroup, as Millicore and
// Kubernetes set it.
func LimitOf(cpus float64) Limit { return Limit{CPUs: cpus, Leaf: cpus} }

// Machine are the CPUs that a process may run on.
type Machine struct {
	Online   int // CPUs of the host
	Affinity int // CPUs of the process's affinity mask; 0: all of the host
}

func (m Machine) affinity() int {
	if m.Affinity > 0 && (m.Online <= 0 || m.Affinity < m.Online) {
		return m.Affinity
	}
	return max(m.Online, 1)
}

// Default predicts the parallelism of a process under a limit, from its runtime,
// environment and arguments, and returns the reason in a sentence. 0: the rule is not
// known. For a runtime with an event loop or a global lock the parallelism is the
// number of processes.
func Default(info Info, limit Limit, m Machine) (n int, why string) {
	switch info.Runtime {
	case Go:
		return goDefault(info, limit, m)
	case JVM:
		return jvmDefault(info, limit, m)
	case DotNet:
		return dotnetDefault(info, limit, m)
	case Rust:
		return rustDefault(info, limit, m)
	case Nginx:
		return nginxDefault(info, limit, m)
	case PHP:
		return phpDefault(info)
	case Envoy:
		return envoyDefault(info, limit, m)
	case Erlang:
		return erlangDefault(info, limit, m)
	case HAProxy:
		return haproxyDefault(m)
	case Deno:
		if isDenoParallel(info.Flags) {
			return denoParallel(info, limit, m)
		}
	}
	if info.loops() {
		return loopDefault(info, m)
	}
	if info.Lockless {
		return 0, info.Runtime.Title() + " has no global lock here: the program sets the number of its threads"
	}
	if p := programOf(info.Runtime); p.rule != "" {
		return p.fallback(info)
	}
	return 0, "no rule is known for this program"
}

// goDefault follows runtime/cgroup_linux.go of Go 1.25 and automaxprocs 1.6.0.
func goDefault(info Info, limit Limit, m Machine) (int, string) {
	if n, ok := positive(info.Env["GOMAXPROCS"]); ok {
		return n, fmt.Sprintf("GOMAXPROCS=%d is set", n)
	}
	_, set := info.Env["GOMAXPROCS"]
	facts := GoFacts{}
	if info.Go != nil {
		facts = *info.Go
	}
	if facts.Automaxprocs != "" && !set && limit.Leaf > 0 {
		n := max(int(limit.Leaf), 1)
		return n, fmt.Sprintf("automaxprocs %s rounds the limit of %s down, to at least 1", facts.Automaxprocs, display.CPULimit(limit.Leaf))
	}
	affinity := m.affinity()
	aware, because := goAware(info)
	if !aware {
		return affinity, fmt.Sprintf("%s, so it ignores the limit: all %d CPUs", because, affinity)
	}
	if limit.Leaf <= 0 {
		return affinity, fmt.Sprintf("no limit: all %d CPUs", affinity)
	}
	n := min(affinity, max(2, ceil(limit.Leaf)))
	return n, fmt.Sprintf("Go rounds the limit of %s up, to at least 2 and at most the %d CPUs", display.CPULimit(limit.Leaf), affinity)
}

// goAware reports whether a Go runtime reads its cgroup, and if not, why.
func goAware(info Info) (bool, string) {
	if value, ok := godebug(info.Env["GODEBUG"], "containermaxprocs"); ok {
		if value == "0" {
			return false, "GODEBUG has containermaxprocs=0"
		}
		if GoAtLeast(info.Version, "go1.25") {
			return true, ""
		}
	}
	if info.Go != nil && info.Go.Aware {
		return true, ""
	}
	if GoAtLeast(info.Version, "go1.25") {
		return false, "its go.mod names Go 1.24 or older (containermaxprocs=0 is built in)"
	}
	return false, "Go before 1.25 does not read cgroups"
}

// jvmDefault follows HotSpot's CgroupSubsystem::active_processor_count. It ignores
// CPU shares, as HotSpot does since 19, 17.0.5 and 11.0.17. JVMs before 24 read the
// limit of the leaf group only (JDK-8322420).
func jvmDefault(info Info, limit Limit, m Machine) (int, string) {
	options := jvmOptions(info)
	quota := limit.CPUs
	if LeafOnly(info) {
		quota = limit.Leaf
	}
	if options.processors > 0 {
		return options.processors, fmt.Sprintf("-XX:ActiveProcessorCount=%d is set in %s", options.processors, options.where)
	}
	affinity := m.affinity()
	switch {
	case options.noContainer:
		return affinity, fmt.Sprintf("-XX:-UseContainerSupport is set, so it ignores the limit: all %d CPUs", affinity)
	case !jvmAware(info.Version):
		return affinity, fmt.Sprintf("JVM %s does not read limits of cgroup v2: all %d CPUs", info.Version, affinity)
	case quota <= 0:
		return affinity, fmt.Sprintf("no limit: all %d CPUs", affinity)
	}
	n := min(affinity, ceil(quota))
	return n, fmt.Sprintf("the JVM rounds the limit of %s up, to at most the %d CPUs", display.CPULimit(quota), affinity)
}

// LeafOnly reports whether a runtime reads the limit of its own group only, and not
// those of the groups above. An unknown version of a JVM counts as a new one.
func LeafOnly(info Info) bool {
	switch info.Runtime {
	case Go:
		return info.Go != nil && (info.Go.Aware || info.Go.Automaxprocs != "")
	case JVM:
		return info.Version != "" && !jvmReadsParents(info.Version)
	case Rust:
		return info.RoundsUp
	case DotNet, Erlang:
		return true
	case Envoy:
		return slices.Contains(info.Flags, cpusetThreads)
	}
	return false
}

// jvmReadsParents: since 24, and since 21.0.9 in the updates of 21.
func jvmReadsParents(version string) bool {
	v := numbers(version)
	return atLeast(version, 24) || len(v) > 0 && v[0] == 21 && atLeast(version, 21, 0, 9)
}

// jvmAware reports whether a JVM reads limits of cgroup v2: since 8u372, 11.0.16 and
// 15. An unknown version counts as a new one.
func jvmAware(version string) bool {
	v := numbers(strings.Replace(version, "_", ".", 1))
	if len(v) >= 2 && v[0] == 1 { // 1.8.0_372
		v = v[1:]
	}
	switch {
	case len(v) == 0:
		return true
	case v[0] == 8:
		return len(v) >= 3 && v[2] >= 372
	case v[0] == 11:
		return len(v) >= 3 && v[2] >= 16
	}
	return v[0] >= 15
}

// rustDefault is std::thread::available_parallelism, which Tokio uses since 1.39 and
// Rayon since 1.8 (rayon-core 1.12). Before, both used num_cpus, which rounds the limit
// of the leaf group up. A program with neither may start any number of threads.
func rustDefault(info Info, limit Limit, m Machine) (int, string) {
	if name := rustEnv(info); name != "" {
		if n, ok := positive(info.Env[name]); ok {
			return n, fmt.Sprintf("%s=%d is set", name, n)
		}
	}
	if affinity := m.affinity(); info.RoundsUp {
		if limit.Leaf <= 0 {
			return affinity, fmt.Sprintf("no limit: all %d CPUs", affinity)
		}
		return min(affinity, ceil(limit.Leaf)), fmt.Sprintf("the crate num_cpus rounds the limit of %s up, to at most the %d CPUs", display.CPULimit(limit.Leaf), affinity)
	}
	return available("Rust", limit, m)
}

// available is Rust's rule: the tightest limit rounded down, to at least 1.
func available(who string, limit Limit, m Machine) (int, string) {
	affinity := m.affinity()
	if limit.CPUs <= 0 {
		return affinity, fmt.Sprintf("no limit: all %d CPUs", affinity)
	}
	n := min(affinity, max(1, int(limit.CPUs)))
	return n, fmt.Sprintf("%s rounds the limit of %s down, to at least 1 and at most the %d CPUs", who, display.CPULimit(limit.CPUs), affinity)
}

// phpDefault: the pool's configuration sets the number of processes.
func phpDefault(info Info) (int, string) {
	const most = "pm.max_children of each pool is the maximum, regardless of the limit"
	if info.Workers > 0 {
		return info.Workers, fmt.Sprintf("%s at present; %s", count(info.Workers, "worker process"), most)
	}
	return 0, most
}

func nginxDefault(info Info, limit Limit, m Machine) (int, string) {
	value := ""
	for _, flag := range info.Flags {
		if found := workerProcesses.FindStringSubmatch(flag); found != nil {
			value = found[2]
		}
	}
	if n, ok := positive(value); ok {
		return n, fmt.Sprintf("worker_processes %d is on the command line", n)
	}
	if value == "" && info.Workers > 0 {
		return info.Workers, fmt.Sprintf("its configuration gives %s", count(info.Workers, "worker process"))
	}
	online := max(m.Online, 1)
	switch {
	case info.Env["NGINX_ENTRYPOINT_WORKER_PROCESSES_AUTOTUNE"] != "" && limit.Leaf > 0:
		return min(m.affinity(), ceil(limit.Leaf)),
			fmt.Sprintf("NGINX_ENTRYPOINT_WORKER_PROCESSES_AUTOTUNE of the official image rounds the limit of %s up", display.CPULimit(limit.Leaf))
	case info.Musl:
		return m.affinity(), fmt.Sprintf("worker_processes auto with musl is the affinity mask's %d CPUs, regardless of the limit; without that directive it is 1", m.affinity())
	}
	return online, fmt.Sprintf("worker_processes auto is the host's %d CPUs, regardless of limit and affinity; without that directive it is 1", online)
}

func denoParallel(info Info, limit Limit, m Machine) (int, string) {
	if n, ok := positive(info.Env["DENO_JOBS"]); ok {
		return n, fmt.Sprintf("DENO_JOBS=%d is set", n)
	}
	return available("deno serve --parallel", limit, m)
}

// loopDefault is the rule of runtimes that run code on one thread per process.
func loopDefault(info Info, m Machine) (int, string) {
	reason := map[Name]string{
		Node:   "one event loop per process, regardless of the limit",
		Bun:    "one event loop per process, regardless of the limit",
		Deno:   "one event loop per process, regardless of the limit",
		Python: "one thread at a time runs Python code (the global interpreter lock), regardless of the limit",
		Ruby:   "one thread at a time runs Ruby code (the global VM lock), regardless of the limit",
	}[info.Runtime]
	if info.Workers > 1 {
		return info.Workers, fmt.Sprintf("%s; each runs %s", count(info.Workers, "worker process"), eachWorker(info.Runtime))
	}
	if info.Workers == 1 {
		return 1, reason + "; 1 worker process"
	}
	if n, why, ok := serverDefault(info, m); ok {
		return n, why
	}
	return 1, reason
}

// eachWorker is what a worker process of such a runtime runs.
func eachWorker(runtime Name) string {
	switch runtime {
	case Python:
		return "one thread of Python code at a time (the global interpreter lock)"
	case Ruby:
		return "one thread of Ruby code at a time (the global VM lock)"
	}
	return "one event loop"
}

// positive parses a decimal number above 0.
func positive(s string) (int, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 32)
	return int(n), err == nil && n > 0
}

func ceil(cpus float64) int { return max(1, int(math.Ceil(cpus))) }

// count is a number of worker processes; one is the words for a single one.
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " worker processes"
}
