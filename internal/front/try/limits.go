package try

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// Limits reads the limits of --cpu: "none" is no limit, and several, no two of which are
// the same, are separated by commas. Their syntax is checked with the experiment.
func Limits(flag string) ([]string, error) {
	all := strings.Split(flag, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	switch {
	case len(all) == 1 && all[0] == "none":
		return []string{""}, nil
	case slices.Contains(all, "none"):
		return nil, fmt.Errorf("--cpu %s: leave none out; of several limits, the server also runs once without any", flag)
	case slices.Contains(all, ""):
		return nil, fmt.Errorf("--cpu %s: write limits as in 250m,500m,1", flag)
	}
	for i, cpu := range all {
		if q, err := resource.ParseQuantity(cpu); err == nil && q.IsZero() {
			return nil, fmt.Errorf("--cpu %s: a process cannot run under a limit of 0; write none for no limit", flag)
		}
		for _, other := range all[:i] {
			switch {
			case sameLimit(other, cpu):
				return nil, fmt.Errorf("--cpu: %s and %s are the same limit", other, cpu)
			case serviceName(other) == serviceName(cpu): // each has a service of its own: one of them is no limit
				return nil, fmt.Errorf("--cpu %s: write limits as in 250m,500m,1", flag)
			}
		}
	}
	return all, nil
}

// sameLimit reports whether two limits are equal: 1 and 1000m are.
func sameLimit(a, b string) bool {
	one, err1 := resource.ParseQuantity(a)
	other, err2 := resource.ParseQuantity(b)
	return a == b || err1 == nil && err2 == nil && one.Cmp(other) == 0
}

// severalLimits reports whether the server is tried under more than one CPU limit.
func (a *Ask) severalLimits() bool { return len(a.CPUs) > 1 }

// under is what is asked, under one of several CPU limits.
func (a *Ask) under(cpu string) *Ask {
	one := *a
	one.CPU = cpu
	return &one
}

// UnderLimits are the variants under several CPU limits: the server as it is under each
// of them, with its settings where its parallelism can matter, and once without a limit.
// limits and seen are those of the server as it is under each limit.
func UnderLimits(a *Ask, limits []experiment.Limits, seen []Seen, m runtimes.Machine) []Variant {
	if a.Against != nil {
		return changed(a, seen)
	}
	if !a.severalLimits() {
		return Variants(a, limits[0], seen[0], m)
	}
	var all, free []Variant
	for i, cpu := range a.CPUs {
		for _, v := range Variants(a.under(cpu), limits[i], seen[i], m) {
			switch {
			case v.Unlimited:
				free = []Variant{v}
			case v.Replicas > 1: // they answer another question than which limit to choose
			case v.sets() && !matters(all, limits[i]):
			default:
				if v.Advice != "" && slices.ContainsFunc(all, func(other Variant) bool { return other.Advice == v.Advice }) {
					v.Advice = ""
				}
				v.CPU, v.Service = cpu, v.Service+"-"+serviceName(cpu)
				all = append(all, v)
			}
		}
	}
	return append(all, free...)
}

// matters reports whether another parallelism than that of the server as it is, the last
// of some variants that sets none, can matter under a limit. It cannot if the server runs
// as many threads as the limit has CPUs, rounded up: it neither uses up its quota early
// nor leaves a part of it unused.
func matters(all []Variant, limit experiment.Limits) bool {
	for _, v := range slices.Backward(all) {
		if !v.sets() {
			return int64(v.Value) != (limit.CPUMillis+999)/1000
		}
	}
	return true
}

// IsAsItIs reports whether a service runs the server as it is, under a limit that was
// asked for; of --against it is the new one.
func IsAsItIs(variants []Variant, service string) bool {
	return slices.ContainsFunc(variants, func(v Variant) bool {
		return v.Service == service && (v.Label == runtimes.AsItIs || v.Service == newService)
	})
}
