package maxprocs

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
)

// host is where a process looks for its limit.
type host struct {
	fs       cgroup.FS
	affinity func() int    // CPUs that the process may run on now; 0 if not known
	numCPU   int           // those at its start
	patience time.Duration // with a file system that does not answer; 0 where all of them do
	interval time.Duration // between two looks while the limit is followed
	aware    func() bool   // whether the runtime's default looks at the limit
}

// thisHost is the host that the process runs on. There are two looks in the
// second within which a change is to be seen.
var thisHost = host{
	fs:       cgroup.Host(),
	affinity: affinity,
	numCPU:   runtime.NumCPU(),
	patience: patience,
	interval: 500 * time.Millisecond,
	aware:    runtimeAware,
}

// view is what is seen of a host at one look.
type view struct {
	limit    cgroup.CPULimit // in effect
	own      cgroup.CPULimit // that the process's own group sets, which Go's runtime goes by
	request  float64         // CPU request without a limit; 0: none, or not known
	affinity int             // CPUs that the process may run on, at least 1
	cpus     int             // the same, at most those at its start
	groups   bool            // there are control groups
	aware    func() bool     // of the host
}

// look looks once. It can take as long as the file systems let it.
func (h host) look() view {
	affinity := h.affinity()
	self, err := h.fs.Self(cgroup.CPU)
	return h.viewOf(self, err).on(h, affinity)
}

// on is the view with the CPUs that the process may run on.
func (v view) on(h host, affinity int) view {
	v.affinity, v.cpus = affinity, h.numCPU
	if v.affinity < 1 {
		v.affinity = h.numCPU
	}
	if v.affinity < v.cpus {
		v.cpus = v.affinity
	}
	return v
}

// viewOf is what is seen of the limits of the process's group, or of the failure to
// locate it.
func (h host) viewOf(self cgroup.Group, err error) view {
	v := view{groups: true, aware: h.aware}
	if err != nil {
		v.limit = cgroup.CPULimit{State: cgroup.Unknown, Err: err}
		v.own = v.limit
		return v
	}
	place := self.Place(cgroup.CPU)
	v.groups = place.State() != cgroup.Absent
	v.limit = self.CPULimit()
	v.own = v.limit
	if p, ok := place.Get(); ok && v.limit.State == cgroup.Limited && v.limit.Dir != p.Dir {
		v.own = self.OwnCPULimit()
	}
	if v.limit.State == cgroup.Unlimited {
		v.request = requestOf(self)
	}
	return v
}

// requestOf is the highest CPU request that the weight of a group can stand for; 0 if it
// stands for none, is not known, or is the kernel's default outside of Kubernetes.
func requestOf(self cgroup.Group) float64 {
	requests, _ := self.CPURequests().Get()
	if len(requests) == 0 {
		return 0
	}
	_, pod := os.LookupEnv("KUBERNETES_SERVICE_HOST")
	if weight := self.Setting(cgroup.CPU, "cpu.shares", "cpu.weight"); !pod {
		place, _ := self.Place(cgroup.CPU).Get()
		text, _ := weight.Get()
		if place.Version == cgroup.V1 && text == "1024" || place.Version == cgroup.V2 && text == "100" {
			return 0
		}
	}
	return requests[0]
}

// lookPatiently looks once, and gives up after the host's patience: the limit is
// then unknown. What hangs is left behind, in a goroutine that ends when the
// kernel lets go of it.
func (h host) lookPatiently() view {
	if h.patience == 0 {
		return h.look()
	}
	seen := make(chan view, 2)
	go func() { seen <- h.look() }()
	defer time.AfterFunc(h.patience, func() { seen <- h.gaveUp() }).Stop()
	return <-seen
}

// gaveUp is what is seen of a host that has not answered.
func (h host) gaveUp() view {
	err := fmt.Errorf("reading control groups has not come to an end in %v; look at what is mounted at /proc and /sys/fs/cgroup", h.patience)
	limit := cgroup.CPULimit{State: cgroup.Unknown, Err: err}
	return view{limit: limit, own: limit, affinity: h.numCPU, cpus: h.numCPU, groups: true, aware: h.aware}
}

// limit is the limit in effect.
func (h host) limit() CPULimit { return limitOf(h.look().limit) }
