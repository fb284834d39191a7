package experiment

import "strconv"

// The names that stand for a unit's own limits in its command and env.
const (
	LimitCPU    = "limits.cpu"
	LimitMemory = "limits.memory"
)

// LimitNames are all these names.
var LimitNames = []string{LimitCPU, LimitMemory}

// LimitVars are the values of ${limits.cpu} and ${limits.memory}, for Expand: the
// CPU limit in whole CPUs, rounded up, and the memory limit in bytes, as the
// downward API of Kubernetes gives them (resourceFieldRef with the divisor 1). A
// limit that is not set has no value; package file refuses its name.
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
