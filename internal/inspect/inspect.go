// Package inspect looks at the processes of a host: which CPU and memory limit
// each meets and which control group sets it, which runtime it is and how many
// things that runs at once, and what the kernel counted of its throttling.
//
// It only sees; what that means is package doctor's, how it is shown theirs who
// show it. It signals nobody, attaches to nobody and changes nothing. What it
// may not read it says, and does not guess.
package inspect

import (
	"time"

	"github.com/millicore/millicore/internal/runtimes"
)

// Host is what was seen of a machine at one time, or over one stretch of time.
type Host struct {
	Online    int       // CPUs; 0: not known
	Processes []Process // in the order of their pids
	// Kernel threads and zombies run no code of a service; processes that ended
	// while they were read are not there any more. All are counted only.
	KernelThreads, Zombies, Ended int
	// Watched is for how long the counters were watched; 0: not at all.
	Watched time.Duration
}

// Process is what was seen of one process.
type Process struct {
	PID     int
	Parent  int
	Name    string   // the kernel's, 15 bytes at most
	Command []string // as the process shows it
	User    int      // number of its effective user; -1: not known
	Started uint64   // clock ticks after the boot: with the pid, who it is
	// Container is the container's or the unit's name as far as it can be told,
	// else the container's id; "" outside of one.
	Container string
	// ContainerID is the whole id; "" where it is in none, or in a unit.
	ContainerID string
	// Pod is the uid of the Kubernetes pod; "" outside of one.
	Pod string

	// Info is the runtime. Its Parallelism is present where it could be read or
	// is declared, and else predicted; 0: not known.
	Info runtimes.Info
	// Ruled is what the runtime's rule gives under this limit, whatever it now
	// runs with, and Why; 0: no rule is known.
	Ruled int
	Why   string

	CPU    CPULimit
	Memory Memory
	// Throttling is of the group that sets the limit; nil where there is none, or
	// it could not be read.
	Throttling *Throttling
	// Shared are limits of groups above the one that sets CPU: none is lower, but
	// what shares one with other groups can use it up together with them.
	Shared []Shared
	// Used is the CPU time of the process itself: over the watch, where there was
	// one, else since its start.
	Used time.Duration
	// Unseen are the reasons why parts are missing, a sentence each.
	Unseen []string
}

// Shared is a limit of a group above the one that sets the tightest.
type Shared struct {
	CPU        CPULimit
	Throttling *Throttling // of its group; nil where it could not be read
}

// State tells whether there is a limit.
type State string

// The three answers; "" is Unknown too.
const (
	Unknown   State = "unknown"
	Unlimited State = "unlimited"
	Limited   State = "limited"
)

// CPULimit is the CPU limit that a process meets: the tightest of its own group
// and all those above it that can be seen.
type CPULimit struct {
	State  State
	CPUs   float64       // quota over period; 0 unless Limited
	Period time.Duration // 0 unless Limited
	Burst  time.Duration // unused quota that is saved up
	// CanBurst: the kernel has the knob for it.
	CanBurst bool
	// Version is of the hierarchy, 1 or 2; 0: there is none.
	Version int

	Group string // path of the process's own group below the mount: /kubepods/pod1/c1
	SetBy string // path of the group that sets the limit; Group itself, or one above
	Dir   string // directory of the group that sets the limit
	// Own is what the process's own group sets, in CPUs, which is all that some
	// runtimes read; 0: nothing.
	Own float64
	// Hidden: there are groups above that cannot be seen from here, so that the
	// true limit may be lower.
	Hidden bool
	Why    string // why it is Unknown
}

// Inherited reports whether a group above the process's own sets the limit.
func (l CPULimit) Inherited() bool { return l.State == Limited && l.SetBy != l.Group }

// Memory is a process's memory limit and what meets it, in bytes. What is nil was
// not measured.
type Memory struct {
	State State
	Limit int64  // 0 unless Limited
	Group string // path of the process's own group
	SetBy string // path of the group that sets the limit; "" where that cannot be seen
	// Current is all that the group that sets the limit uses (the own group where
	// that cannot be seen), WorkingSet what of it cannot simply be dropped.
	Current, WorkingSet *int64
	// OOMKills are the processes of the own group that were killed for want of
	// memory, since it was made.
	OOMKills *int64
}

// Throttling is what the kernel counted of the group that sets a CPU limit.
type Throttling struct {
	Since Counts  // since the group was made
	Watch *Counts // over the watch; nil where there was none
}

// Counts are of a stretch of time.
type Counts struct {
	Length    time.Duration // 0: not known
	Periods   int64         // in which the group ran and its quota was counted
	Throttled int64         // at whose end it was throttled
	// Stopped is for how long, summed over the CPUs: it can exceed Length.
	Stopped time.Duration
	// Used is the CPU time used by the group and those below; nil: not measured.
	Used *time.Duration
}

// Share is which share of the periods was throttled, 0 to 1.
func (c Counts) Share() float64 {
	if c.Periods <= 0 {
		return 0
	}
	return float64(c.Throttled) / float64(c.Periods)
}

// PerThrottled is the time stopped in a throttled period, summed over the CPUs.
func (c Counts) PerThrottled() time.Duration {
	if c.Throttled <= 0 {
		return 0
	}
	return c.Stopped / time.Duration(c.Throttled)
}

// Less is what was counted between an earlier reading and this one. ok is false
// where the counters went back: the group was made anew.
func (c Counts) Less(before Counts, length time.Duration) (d Counts, ok bool) {
	d = Counts{
		Length: length, Periods: c.Periods - before.Periods,
		Throttled: c.Throttled - before.Throttled, Stopped: c.Stopped - before.Stopped,
	}
	if c.Used != nil && before.Used != nil {
		used := *c.Used - *before.Used
		d.Used = &used
	}
	return d, d.Periods >= 0 && d.Throttled >= 0 && d.Stopped >= 0 && (d.Used == nil || *d.Used >= 0)
}
