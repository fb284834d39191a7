package cgroup

import (
	"errors"
	"fmt"
	"path"
	"time"
)

// LimitState is what is known of a limit.
type LimitState uint8

// The states of a limit.
const (
	Unknown   LimitState = iota // it could not be read; there may be one
	Unlimited                   // no visible group sets one
	Limited                     // there is one
)

func (s LimitState) String() string {
	switch s {
	case Unknown:
		return "unknown"
	case Unlimited:
		return "unlimited"
	case Limited:
		return "limited"
	}
	return fmt.Sprintf("LimitState(%d)", uint8(s))
}

// CPULimit is a CPU bandwidth limit: Quota of CPU time in each Period.
type CPULimit struct {
	State  LimitState
	CPUs   float64              // Quota / Period; 0 unless Limited
	Quota  time.Duration        // 0 unless Limited
	Period time.Duration        // 0 if not known
	Burst  Value[time.Duration] // how much unused quota is carried over; absent before Linux 5.14
	Dir    string               // the directory that sets the limit; "" unless Limited

	// Hidden is true if there are ancestors that are not visible from here: the true
	// limit may then be lower, and Unlimited refers to visible groups only.
	Hidden bool

	// Err is the reason if the limit is Unknown. If it is Limited, Err is the first
	// error of reading an ancestor: the true limit may be lower.
	Err error
}

// CPULimit returns the CPU limit in effect: the lowest of the group's own and
// of those of all its visible ancestors. v2 allows a limit above an ancestor's.
func (g Group) CPULimit() CPULimit {
	p, ok := g.Place(CPU).Get()
	if !ok {
		return g.noCPUPlace()
	}
	limit := CPULimit{State: Unlimited}
	var firstErr error
	for _, dir := range p.dirs() {
		own := g.fs.cpuBandwidth(p.Version, dir)
		switch {
		case own.State == Unknown && errors.Is(own.Err, ErrGone):
			return own
		case own.State == Unknown && firstErr == nil:
			firstErr = own.Err
		case own.State == Limited && (limit.State != Limited || own.CPUs < limit.CPUs):
			limit = own
		}
	}
	if limit.State == Limited {
		limit.Burst = g.fs.cpuBurst(p.Version, limit.Dir)
	}
	limit.Hidden = g.fs.hidden(p)
	limit.Err = firstErr
	if firstErr != nil && limit.State == Unlimited {
		limit.State = Unknown
	}
	return limit
}

// OwnCPULimit returns the limit that the group itself sets, regardless of its
// ancestors. Period and Burst are set even if it is Unlimited.
func (g Group) OwnCPULimit() CPULimit {
	p, ok := g.Place(CPU).Get()
	if !ok {
		return g.noCPUPlace()
	}
	return g.fs.cpuLimitOf(p.Version, p.Dir)
}

// noCPUPlace is the limit of a group whose CPU controller has no directory
// here: none where the host does not have the controller, unknown otherwise.
func (g Group) noCPUPlace() CPULimit {
	if err := g.Place(CPU).Err(); err != nil {
		return CPULimit{State: Unknown, Err: err}
	}
	return CPULimit{State: Unlimited}
}

// cpuLimitOf returns the limit that is set in dir.
func (f FS) cpuLimitOf(version Version, dir string) CPULimit {
	limit := f.cpuBandwidth(version, dir)
	if limit.State != Unknown {
		limit.Burst = f.cpuBurst(version, dir)
	}
	return limit
}

// cpuBandwidth returns the limit that is set in dir, without its burst.
func (f FS) cpuBandwidth(version Version, dir string) CPULimit {
	quota, period, err := f.cpuQuota(version, dir)
	if err != nil {
		return CPULimit{State: Unknown, Err: err}
	}
	limit := CPULimit{State: Unlimited, Period: period}
	if quota > 0 {
		limit.State = Limited
		limit.Quota = quota
		limit.CPUs = float64(quota) / float64(period)
		limit.Dir = dir
	}
	return limit
}

// cpuQuota returns the quota that is set in dir, 0 if none is, and the period,
// 0 if dir has no such files: the root of v2 and groups for which the
// controller is not enabled.
func (f FS) cpuQuota(version Version, dir string) (quota, period time.Duration, err error) {
	if version == V2 {
		data, err := f.read(dir, "cpu.max")
		if err != nil || data == nil {
			return 0, 0, err
		}
		quota, period, err = parseCPUMax(data)
		return quota, period, f.at(dir, "cpu.max", err)
	}
	quotaFile, err := f.read(dir, "cpu.cfs_quota_us")
	if err != nil || quotaFile == nil {
		return 0, 0, err
	}
	periodFile, err := f.read(dir, "cpu.cfs_period_us")
	if err == nil && periodFile == nil {
		err = f.at(dir, "cpu.cfs_period_us", errors.New("missing beside cpu.cfs_quota_us"))
	}
	if err != nil {
		return 0, 0, err
	}
	quota, period, err = parseV1Quota(quotaFile, periodFile)
	return quota, period, f.at(dir, "cpu.cfs_*_us", err)
}

// cpuBurst returns the burst that is set in dir. cpu.max.burst of v2 and
// cpu.cfs_burst_us of v1 are in microseconds.
// Linux Documentation/scheduler/sched-bwc.rst, "Burst feature".
func (f FS) cpuBurst(version Version, dir string) Value[time.Duration] {
	name := "cpu.max.burst"
	if version == V1 {
		name = "cpu.cfs_burst_us"
	}
	data, err := f.read(dir, name)
	if err != nil || data == nil {
		return answer[time.Duration](err)
	}
	burst, err := parseMicrosFile(data)
	if err != nil {
		return UnreadableValue[time.Duration](f.at(dir, name, err))
	}
	return ValueOf(burst)
}

// at says which file an error is about.
func (f FS) at(dir, name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", f.real(path.Join(dir, name)), err)
}

// CPUs counts the CPUs that the group may use: cpuset.cpus.effective of the
// innermost group that has it. It is absent if no group has it, and in a v1 group
// whose cpuset is not set yet.
func (g Group) CPUs() Value[int] {
	p, ok := g.Place(CPUSet).Get()
	if !ok {
		return answer[int](g.Place(CPUSet).Err())
	}
	// v1 has its effective CPUs since Linux 3.17; a group there always has
	// the file.
	names := []string{"cpuset.effective_cpus", "cpuset.cpus"}
	if p.Version == V2 {
		names = []string{"cpuset.cpus.effective"}
	}
	for _, dir := range p.dirs() {
		for _, name := range names {
			data, err := g.fs.read(dir, name)
			if err != nil {
				return UnreadableValue[int](err)
			}
			if data == nil {
				continue
			}
			n, err := parseCPUList(data)
			switch {
			case err != nil:
				return UnreadableValue[int](g.fs.at(dir, name, err))
			case n == 0:
				return Value[int]{}
			}
			return ValueOf(n)
		}
	}
	return Value[int]{}
}
