// Package inspect reads the state of a host's processes: the CPU and memory limit of
// each and the control group that sets it, its runtime and parallelism, and the
// kernel's throttling counters.
//
// It only reads: package doctor judges, and others display. It sends no signals,
// attaches to no process and changes nothing. It reports what it could not read, and
// does not guess.
package inspect

import (
	"cmp"
	"errors"
	"time"

	"github.com/millicore/millicore/internal/host/caches"
	"github.com/millicore/millicore/internal/host/course"
	"github.com/millicore/millicore/internal/host/memory"
	"github.com/millicore/millicore/internal/host/procfiles"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/host/threads"
)

// Host is the state of a machine at one time, or over a watch.
type Host struct {
	Online    int       // CPUs; 0: not known
	Processes []Process // in the order of their pids
	// Kernel threads and zombies run no code of a service; processes that ended during
	// the scan no longer exist. All of these are only counted.
	KernelThreads, Zombies, Ended int
	// Partial: only some processes were requested, so others may share their limits.
	Partial bool
	// Watched is how long the counters were watched; 0: not at all.
	Watched time.Duration
	// QueryWorkers are the PIDs of the workers of parallel queries that a server of PostgreSQL had
	// when it was read first, by its PID. They end with their query: mostly before they are read,
	// but under a low limit they may live as long as the watch.
	QueryWorkers map[int][]int
	// Steal is the share of the host's CPU time over the watch that a hypervisor gave
	// to others; nil: not measured.
	Steal *float64
	// InUse and Idle are the CPUs of the host that ran something and that did not, on
	// average over the watch; nil: not measured.
	InUse, Idle *float64
}

// Process is the state of one process.
type Process struct {
	PID     int
	Parent  int
	Name    string   // the kernel's, 15 bytes at most
	Command []string // as in /proc/PID/cmdline
	User    int      // effective user id; -1: not known
	Started uint64   // clock ticks after the boot: with the pid, identifies the process
	// Container is the name of the container or unit if it is known, else the
	// container's id; "" outside of one.
	Container string
	// ContainerID is the whole id; "" outside of a container.
	ContainerID string
	// Pod is the uid of the Kubernetes pod; "" outside of one.
	Pod string

	// Namespace is the pod's, and PodContainer the container's name in the specification of
	// its pod; "": not known.
	Namespace, PodContainer string
	// Node is the name of its host in a cluster; "": of this host.
	Node string

	// Info is the runtime. Its Parallelism is read or declared, or else predicted;
	// 0: not known.
	Info runtimes.Info
	// Ruled is the parallelism that the runtime's rule gives under this limit,
	// independent of the present one, and Why the reason; 0: no rule is known.
	Ruled int
	Why   string

	CPU    CPULimit
	Memory Memory // the limit in effect
	// Bounds are the others: memory.high, and limits of parents that several groups share.
	Bounds []Memory
	// Throttling is of the group that sets the limit; nil if there is no limit, or
	// if it could not be read.
	Throttling *Throttling
	// Shared are the limits of parents of the group that sets CPU. None is lower, but
	// several groups together can use one up.
	Shared []Shared
	// Used is the CPU time of the process itself: over the watch, or without a watch
	// since its start.
	Used time.Duration
	// Threads is what its threads did over the watch; nil without a watch or a CPU
	// limit, or if it could not be read.
	Threads *threads.Use
	// Requests are the CPU requests in CPUs that the weight of its group stands for in
	// Kubernetes, one for each rule by which runtimes convert it; nil: not known.
	Requests []float64
	// Port is the TCP port on which it listens, the lowest of several; 0: none known.
	Port int
	// Listens is whether it listens on a TCP port; nil: not known.
	Listens *bool
	// Folder is its working folder, and Exe its executable, in its own mount namespace;
	// "": not known.
	Folder, Exe string
	// Config is the configuration file that sets the number of workers or threads; "": none
	// known.
	Config string
	// RuntimeConfig are the settings of a .NET program's file; nil: not read.
	RuntimeConfig *RuntimeConfig
	// Heap is the maximum size of its heap as the runtime itself reports it; nil: not
	// reported.
	Heap *Heap
	// Cache is the setting by which it bounds the memory that it fills as it runs; nil: none is
	// known.
	Cache *caches.Setting
	// Anon is its own memory in use, without files and shared memory, in bytes; 0: not known.
	Anon int64
	// Kills are processes of its group and its pod that the kernel killed, the last one
	// first, as far as its log reaches.
	Kills []Kill
	// Restarts is how often its container was restarted; nil: not known.
	Restarts *Restarts
	// Unseen are the reasons why parts are missing, a sentence each.
	Unseen []string
	// Refused is why the process was not inspected further: it is hostile or broken. It is a
	// clause that follows "could not inspect PID NAME: "; "": it was inspected.
	Refused string
}

// refuse notes the first error that makes a process one not to look at any further, and
// reports whether it is such an error.
func (p *Process) refuse(err error) bool {
	refused, ok := errors.AsType[*procfiles.Refused](err)
	if ok {
		p.Refused = cmp.Or(p.Refused, refused.Why)
	}
	return ok
}

// Shared is a limit of a parent of the group that sets the lowest limit.
type Shared struct {
	CPU        CPULimit
	Throttling *Throttling // of its group; nil where it could not be read
}

// State is whether there is a limit, and Memory a memory bound and its use.
type (
	State  = memory.State
	Memory = memory.Bound
)

// The three states; "" is Unknown too.
const (
	Unknown   = memory.Unknown
	Unlimited = memory.Unlimited
	Limited   = memory.Limited
)

// CPULimit is the CPU limit of a process: the lowest of its own group and all visible
// parents.
type CPULimit struct {
	State  State
	CPUs   float64       // quota over period; 0 unless Limited
	Period time.Duration // 0 unless Limited
	Burst  time.Duration // how much unused quota the kernel carries over
	// CanBurst: the kernel has CPU burst.
	CanBurst bool
	// Version of the cgroup hierarchy, 1 or 2; 0: there is none.
	Version int

	Group string // path of the process's own group below the mount: /kubepods/pod1/c1
	SetBy string // path of the group that sets the limit: Group itself or a parent
	Dir   string // directory of the group that sets the limit
	// Own is the limit of the process's own group, in CPUs, which some runtimes read
	// only; 0: none.
	Own float64
	// Hidden: there are parent groups that are not visible from here, so the true
	// limit may be lower.
	Hidden bool
	Why    string // why it is Unknown
}

// Inherited reports whether a parent of the process's own group sets the limit.
func (l CPULimit) Inherited() bool { return l.State == Limited && l.SetBy != l.Group }

// Throttling are the kernel's counters of the group that sets a CPU limit.
type Throttling struct {
	Since Counts  // since the group was created
	Watch *Counts // over the watch; nil without a watch
	// Course is how it changed during the watch; nil without a watch, and of a host with many
	// groups where it was not followed.
	Course *Course
}

// Counts are the counters of a period of time, and Course how they changed in it.
type (
	Counts = course.Counts
	Course = course.Course
)
