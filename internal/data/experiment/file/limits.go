package file

import (
	"reflect"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/span"
)

const (
	// leastQuota is the kernel's min_cfs_quota_period (kernel/sched/core.c).
	leastQuota     = time.Millisecond
	shortestPeriod = time.Millisecond
	longestPeriod  = time.Second
	mostReplicas   = 100
)

// limitsOf are the limits of a service, key by key: its own, and the
// experiment's where it does not have the key.
func limitsOf(service, root *node) *node {
	own, base := service.child("limits"), root.child("limits")
	out := *base
	out.kind, out.entries, out.bad = mapNode, slices.Clone(own.entries), own.bad || base.bad
	for _, e := range base.entries {
		if own.entry(e.key) == nil {
			out.entries = append(out.entries, e)
		}
	}
	return &out
}

// readLimits reads limits of a cell: those of a service, or a dependency's.
func (d *decoder) readLimits(n *node) experiment.Limits {
	d.failed = false
	var l experiment.Limits
	f := fieldOf("limits")
	d.value(n, &f, reflect.ValueOf(&l).Elem())
	if !d.failed {
		d.checkLimits(&l, n)
	}
	return l
}

// checkLimits finds limits that the kernel would not take.
func (d *decoder) checkLimits(l *experiment.Limits, n *node) {
	cpu, burst, period := n.child("cpu"), n.child("burst"), n.child("period")
	limited := d.has(cpu)
	if l.Period < shortestPeriod || l.Period > longestPeriod {
		d.wrong(period, "%s is outside 1ms to 1s, the range of a CFS period", span.Text(l.Period))
		return
	}
	if l.Replicas > mostReplicas {
		d.wrong(n.child("replicas"), "%d are more than %d", l.Replicas, mostReplicas)
	}
	if limited && l.CPUMillis == 0 {
		d.wrong(cpu, "a process cannot run under a limit of 0; for no limit, write null or leave cpu out")
		return
	}
	if quota := time.Duration(l.CPUMillis * int64(l.Period) / 1000); limited && quota < leastQuota {
		least := (int64(leastQuota)*1000 + int64(l.Period) - 1) / int64(l.Period)
		d.conflict(cpu.path, []*node{cpu, period}, "%dm of a period of %s is a quota below 1 ms, the kernel's minimum; use %dm or more", l.CPUMillis, span.Text(l.Period), least)
	}
	if request := n.child("request"); limited && l.RequestMillis > l.CPUMillis {
		d.conflict(request.path, []*node{request, cpu}, "%dm is more than the limit of %dm; request at most the limit", l.RequestMillis, l.CPUMillis)
	}
	if l.BurstMillis > 0 && !limited {
		d.conflict(burst.path, []*node{burst, cpu}, "burst needs a CPU limit; set cpu, or set burst to null too")
	}
	if limited && l.BurstMillis > l.CPUMillis {
		d.conflict(burst.path, []*node{burst, cpu}, "%dm is more than the limit of %dm, the kernel's maximum", l.BurstMillis, l.CPUMillis)
	}
}
