package experiment

import "strconv"

// The names that stand for a unit's own limits in its command and env.
const (
	LimitCPU    = "limits.cpu"
	LimitMemory = "limits.memory"
)

var limitNames = []string{LimitCPU, LimitMemory}

// LimitVars are the values of ${limits.cpu} and ${limits.memory}, for Expand: the
// CPU limit in whole CPUs, rounded up, and the memory limit in bytes, as the
// downward API of Kubernetes gives them (resourceFieldRef with the divisor 1). A
// limit that there is not has no value; Parse refuses its name.
//
// They hold on every platform. Kubernetes may write an env value that is nothing
// but one of these names as a resourceFieldRef, so that the pod is the one that
// users write; a plain value is the same, since an in-place resize changes
// neither.
func LimitVars(l Limits) map[string]string {
	vars := make(map[string]string)
	if l.CPUMillis > 0 {
		vars[LimitCPU] = strconv.FormatInt((l.CPUMillis+999)/1000, 10)
	}
	if l.Memory > 0 {
		vars[LimitMemory] = strconv.FormatInt(l.Memory, 10)
	}
	return vars
}

// limitsHere are the limits that there are by their names; nil where they were
// wrong, and reported.
func (c *cellReader) limitsHere(limits *Limits) map[string]bool {
	if c.failed {
		return nil
	}
	return map[string]bool{LimitCPU: limits.CPUMillis > 0, LimitMemory: limits.Memory > 0}
}

// needLimit refuses the name of a limit that there is not.
func (c *cellReader) needLimit(l *launched, name string) {
	if c.limits == nil || c.limits[name] {
		return
	}
	c.wrong(&l.scalar, "%s: ${%s} has no value where there is no such limit; set %s, or write a number in its place", l.path, name, name)
}
