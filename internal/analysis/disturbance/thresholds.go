package disturbance

import "time"

// The machine decides the result unless it is watched: next to a busy neighbour the
// same cells rank the other way round. CPU times are averages over the stretch that
// is judged, in cores.
const (
	// Others disturb from this CPU on, or from this share of the host's CPUs if that
	// is more.
	foreignCores = 0.2
	foreignShare = 0.05

	// A host is full below this idle CPU, or below this share of its CPUs if that is
	// more.
	idleCores = 0.2
	idleShare = 0.05

	// stolenCores is the steal time, in cores, from which latencies show its pauses.
	stolenCores = 0.1

	// runWaitShare is the share of the time in which the agent's threads were
	// runnable and waited for a CPU, summed over threads.
	runWaitShare = 0.1

	// LateLag is the send lag from which a request counts as sent late. A lag below
	// lateShare of the latency does not matter: where answers take half a second, a
	// lag of 2 ms is not the limit.
	LateLag   = 2 * time.Millisecond
	lateShare = 0.05

	// throttledShare is the share of the time in which the agent's own CPU limit
	// throttled it. Requests that are due meanwhile are sent late: 1% of the time
	// would be the p99 of all answers, so half of that is already too much.
	throttledShare = 0.005
)

// Busy reports whether others took so much CPU, in cores, that they may have delayed
// the service: processes that the experiment did not start, or the hypervisor. The
// effect on a service that waits for a CPU is the same.
func Busy(taken float64, cpus int) bool {
	return taken >= max(foreignCores, foreignShare*float64(cpus))
}

// Full reports whether a host had no CPU left for anything else; idle is in cores.
func Full(idle float64, cpus int) bool { return idle < max(idleCores, idleShare*float64(cpus)) }

// Stolen reports whether the hypervisor took so much CPU, in cores, that its pauses
// may explain slow requests.
func Stolen(steal float64) bool { return steal >= stolenCores }

// SentLate reports whether a send lag matters next to a latency. Both are the same
// quantile.
func SentLate(lag, latency time.Duration) bool {
	return lag >= LateLag && float64(lag) >= lateShare*float64(latency)
}

// Waited reports whether an agent waited for a CPU for much of its time. It
// disturbs only if the agent also sent late. Both times are in seconds.
func Waited(runWait, seconds float64) bool { return runWait >= runWaitShare*seconds }

// AgentThrottled reports whether an agent was throttled for so much of its time
// that its own CPU limit shaped its figures. Both times are in seconds.
func AgentThrottled(throttled, seconds float64) bool {
	return throttled > 0 && throttled >= throttledShare*seconds
}
