package group

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform/meter"
)

// setting is one write into a file of a group.
type setting struct {
	file     string
	value    string
	what     string // for errors: "limit CPU to 500m"
	optional bool   // ignore it if the kernel has no such file
}

// CheckLimits reports limits that no kernel accepts.
// Linux Documentation/scheduler/sched-bwc.rst, "Management".
func CheckLimits(l experiment.Limits) error {
	b := meter.BandwidthOf(l)
	switch period := b.Period; {
	case period < time.Millisecond || period > time.Second:
		return fmt.Errorf("CPU period %v: the kernel accepts 1ms to 1s", period)
	case l.CPUMillis == 0 && l.BurstMillis != 0:
		return fmt.Errorf("a burst of %dm without a CPU limit: state a limit too", l.BurstMillis)
	case l.CPUMillis == 0:
		return nil
	case b.Quota < time.Millisecond:
		return fmt.Errorf("CPU limit %dm of a period of %v is %v: the kernel accepts no quota below 1ms; raise the limit to %dm or lengthen the period",
			l.CPUMillis, period, b.Quota, (1000*time.Millisecond+period-1)/period)
	case l.BurstMillis > l.CPUMillis:
		return fmt.Errorf("burst %dm is above the CPU limit %dm: the kernel accumulates at most the quota", l.BurstMillis, l.CPUMillis)
	}
	return nil
}

// settings are the writes that set the limits of a new group in one hierarchy, in the
// order that the kernel requires: the period before the quota, the quota before the
// burst.
func settings(version cgroup.Version, controller cgroup.Controller, l experiment.Limits) []setting {
	v1 := version == cgroup.V1
	switch controller {
	case cgroup.CPU:
		var all []setting
		if l.CPUMillis != 0 {
			all = cpuSettings(v1, l)
		}
		if l.RequestMillis != 0 {
			all = append(all, weighRequest(v1, l))
		}
		return all
	case cgroup.Memory:
		if l.Memory == 0 {
			return nil
		}
		return memorySettings(v1, l.Memory)
	case cgroup.CPUSet:
		if l.CPUSet == "" {
			return nil
		}
		return []setting{{file: "cpuset.cpus", value: l.CPUSet, what: "confine to the CPUs " + l.CPUSet}}
	case cgroup.PIDs:
		return pidsSettings(l)
	}
	return nil
}

// resettings are the writes that change the limits of a group in one hierarchy. The
// burst is removed first, because it must not exceed the new quota. In v1 the limit of
// memory and swap is removed before the limit of memory.
func resettings(version cgroup.Version, controller cgroup.Controller, l experiment.Limits) []setting {
	v1 := version == cgroup.V1
	switch controller {
	case cgroup.CPU:
		noBurst, unlimited := setting{file: "cpu.max.burst", value: "0"}, setting{file: "cpu.max", value: "max"}
		if v1 {
			noBurst, unlimited = setting{file: "cpu.cfs_burst_us", value: "0"}, setting{file: "cpu.cfs_quota_us", value: "-1"}
		}
		noBurst.what, noBurst.optional, unlimited.what = "end the CPU burst", true, "lift the CPU limit"
		if l.CPUMillis == 0 {
			return []setting{noBurst, unlimited, weighRequest(v1, l)}
		}
		return append(append([]setting{noBurst}, cpuSettings(v1, l)...), weighRequest(v1, l))
	case cgroup.Memory:
		unlimited := setting{file: "memory.max", value: "max", what: "lift the memory limit"}
		if v1 {
			unlimited.file, unlimited.value = "memory.limit_in_bytes", "-1"
		}
		swap := setting{file: "memory.memsw.limit_in_bytes", value: "-1", what: unlimited.what, optional: true}
		switch {
		case l.Memory == 0 && v1:
			return []setting{swap, unlimited}
		case l.Memory == 0:
			return []setting{unlimited}
		case v1:
			return append([]setting{swap}, memorySettings(v1, l.Memory)...)
		}
		return memorySettings(v1, l.Memory)
	case cgroup.PIDs:
		return pidsSettings(l)
	}
	return nil
}

// pidsSettings limit processes and threads together. The root of a hierarchy has no such
// file, but the groups of a run are never the root.
func pidsSettings(l experiment.Limits) []setting {
	if l.PIDs == 0 {
		return nil
	}
	value := strconv.Itoa(l.PIDs)
	return []setting{{file: "pids.max", value: value, what: "limit processes and threads to " + value}}
}

func cpuSettings(v1 bool, l experiment.Limits) []setting {
	b := meter.BandwidthOf(l)
	what := fmt.Sprintf("limit CPU to %dm", l.CPUMillis)
	micros := func(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }
	var all []setting
	if v1 {
		all = []setting{
			{file: "cpu.cfs_period_us", value: micros(b.Period), what: what},
			{file: "cpu.cfs_quota_us", value: micros(b.Quota), what: what},
		}
	} else {
		all = []setting{{file: "cpu.max", value: micros(b.Quota) + " " + micros(b.Period), what: what}}
	}
	if b.Burst == 0 {
		return all
	}
	file := "cpu.max.burst"
	if v1 {
		file = "cpu.cfs_burst_us"
	}
	return append(all, setting{file: file, value: micros(b.Burst), what: fmt.Sprintf("allow a CPU burst of %dm", l.BurstMillis)})
}

// memorySettings also forbid swap, as in Kubernetes: a service that swaps would be slow
// instead of being killed. On v2 an OOM kill ends the whole group, as in Kubernetes.
func memorySettings(v1 bool, limit int64) []setting {
	value := strconv.FormatInt(limit, 10)
	what := "limit memory to " + value + " bytes"
	if v1 {
		return []setting{
			{file: "memory.limit_in_bytes", value: value, what: what},
			{file: "memory.memsw.limit_in_bytes", value: value, what: what, optional: true},
		}
	}
	return []setting{
		{file: "memory.max", value: value, what: what},
		{file: "memory.swap.max", value: "0", what: what, optional: true},
		{file: "memory.oom.group", value: "1", what: what, optional: true},
	}
}

// weighRequest sets the CPU weight that stands for a request, as on Kubernetes. Without a
// request it is that of an ordinary group, which 1 CPU has too.
func weighRequest(v1 bool, l experiment.Limits) setting {
	shares := cgroup.Shares(cmp.Or(l.RequestMillis, 1000))
	s := setting{file: "cpu.shares", value: strconv.FormatInt(shares, 10), what: fmt.Sprintf("weigh a CPU request of %dm", l.RequestMillis), optional: l.RequestMillis == 0}
	if !v1 {
		s.file, s.value = "cpu.weight", strconv.FormatInt(cgroup.Weight(shares), 10)
	}
	return s
}

// weigh sets the CPU weight of a group, as a multiple of an ordinary group's.
func weigh(version cgroup.Version, times int) setting {
	if version == cgroup.V1 {
		return setting{file: "cpu.shares", value: strconv.Itoa(min(1024*times, 1<<18)), what: "set the weight", optional: true}
	}
	return setting{file: "cpu.weight", value: strconv.Itoa(min(100*times, 10000)), what: "set the weight", optional: true}
}
