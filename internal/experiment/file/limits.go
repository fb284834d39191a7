package file

import (
	"reflect"
	"time"

	"github.com/millicore/millicore/internal/experiment"
)

const (
	// leastQuota is the kernel's min_cfs_quota_period (kernel/sched/core.c).
	leastQuota     = time.Millisecond
	shortestPeriod = time.Millisecond
	longestPeriod  = time.Second
	mostReplicas   = 100
)

// has reports whether the key was written, if only with null.
func (l *limits) has(key string) bool {
	for _, f := range fieldsOf(reflect.TypeFor[limits]()) {
		if f.key == key {
			return l.field(f).Interface().(interface{ present() bool }).present()
		}
	}
	return false
}

// field is a pointer to one of the limits.
func (l *limits) field(f field) reflect.Value {
	return reflect.ValueOf(l).Elem().FieldByIndex(f.index).Addr()
}

// over are the limits key by key, those of base where l does not have the key.
func (l *limits) over(base *limits) limits {
	out := *base
	for _, f := range fieldsOf(reflect.TypeFor[limits]()) {
		if l.has(f.key) {
			out.field(f).Elem().Set(l.field(f).Elem())
		}
	}
	return out
}

// readLimits reads limits in a cell: those of a service, or a dependency's.
func (c *cellReader) readLimits(l *limits) experiment.Limits {
	c.failed = false
	var out experiment.Limits
	cpu, limited := read(c, &l.CPU)
	burst, bursts := read(c, &l.Burst)
	out.CPUMillis, out.BurstMillis = cpu, burst
	out.Period, _ = read(c, &l.Period)
	out.Memory, _ = read(c, &l.Memory)
	out.CPUSet, _ = read(c, &l.CPUSet)
	replicas, _ := read(c, &l.Replicas)
	out.Replicas = int(replicas)
	if c.failed {
		return out
	}

	if out.Period < shortestPeriod || out.Period > longestPeriod {
		c.wrong(&l.Period.scalar, "%s is outside 1ms to 1s, what CFS takes as a period", short(out.Period))
		return out
	}
	if out.Replicas > mostReplicas {
		c.wrong(&l.Replicas.scalar, "%d are more than %d", out.Replicas, mostReplicas)
	}
	if limited && cpu == 0 {
		c.wrong(&l.CPU.scalar, "no process can run under a limit of 0; for no limit, write null or leave it out")
		return out
	}
	if limited && quota(cpu, out.Period) < leastQuota {
		least := (int64(leastQuota)*1000 + int64(out.Period) - 1) / int64(out.Period)
		c.conflict(l.CPU.path, []*scalar{&l.CPU.scalar, &l.Period.scalar}, "%dm of a period of %s is a quota under 1 ms, the least that the kernel takes; use %dm or more", cpu, short(out.Period), least)
	}
	if bursts && burst > 0 && !limited {
		c.conflict(l.Burst.path, []*scalar{&l.Burst.scalar, &l.CPU.scalar}, "without a CPU limit there is no quota to save up; set cpu, or make burst null too")
	}
	if limited && burst > cpu {
		c.conflict(l.Burst.path, []*scalar{&l.Burst.scalar, &l.CPU.scalar}, "%dm is more than the limit of %dm, the most that the kernel takes", burst, cpu)
	}
	return out
}

// quota is the CPU time of one period.
func quota(millis int64, period time.Duration) time.Duration {
	return time.Duration(millis * int64(period) / 1000)
}

// limitsHere says by name which limits are set; nil where they were wrong, and
// reported.
func (c *cellReader) limitsHere(limits *experiment.Limits) map[string]bool {
	if c.failed {
		return nil
	}
	return map[string]bool{experiment.LimitCPU: limits.CPUMillis > 0, experiment.LimitMemory: limits.Memory > 0}
}

// needLimit refuses the name of a limit that is not set.
func (c *cellReader) needLimit(l *launched, name string) {
	if c.limits == nil || c.limits[name] {
		return
	}
	c.wrong(&l.scalar, "${%s} has no value where there is no such limit; set %s, or write a number in its place", name, name)
}
