package experiment

import (
	"reflect"
	"time"
)

const (
	// leastQuota is the kernel's min_cfs_quota_period (kernel/sched/core.c).
	leastQuota     = time.Millisecond
	shortestPeriod = time.Millisecond
	longestPeriod  = time.Second
	mostReplicas   = 100
)

// has tells whether the key was written, if only with null.
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
func (c *cellReader) readLimits(l *limits) Limits {
	c.failed = false
	var out Limits
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
		c.wrong(&l.Period.scalar, "%s: %s is outside 1ms to 1s, what CFS takes as a period", l.Period.path, short(out.Period))
		return out
	}
	if out.Replicas > mostReplicas {
		c.wrong(&l.Replicas.scalar, "%s: %d are more than %d", l.Replicas.path, out.Replicas, mostReplicas)
	}
	if limited && cpu == 0 {
		c.wrong(&l.CPU.scalar, "%s: no process can run under a limit of 0; for no limit, write null or leave it out", l.CPU.path)
		return out
	}
	if limited && quota(cpu, out.Period) < leastQuota {
		least := (int64(leastQuota)*1000 + int64(out.Period) - 1) / int64(out.Period)
		c.conflict([]*scalar{&l.CPU.scalar, &l.Period.scalar},
			"%s: %dm of a period of %s is a quota under 1 ms, the least that the kernel takes; use %dm or more", l.CPU.path, cpu, short(out.Period), least)
	}
	if bursts && burst > 0 && !limited {
		c.conflict([]*scalar{&l.Burst.scalar, &l.CPU.scalar}, "%s: without a CPU limit there is no quota to save up; set cpu, or make burst null too", l.Burst.path)
	}
	if limited && burst > cpu {
		c.conflict([]*scalar{&l.Burst.scalar, &l.CPU.scalar}, "%s: %dm is more than the limit of %dm, the most that the kernel takes", l.Burst.path, burst, cpu)
	}
	return out
}

// quota is the CPU time of one period.
func quota(millis int64, period time.Duration) time.Duration {
	return time.Duration(millis * int64(period) / 1000)
}
