package signals

import "time"

// What makes a measurement disturbed: of a whole trial, of a window of a search,
// or of one frame. The machine decides the answer unless it is watched: the same
// cells read the opposite way round with a busy neighbour. The CPU times are
// averages over what is judged, in cores.
const (
	foreignCores = 0.2  // CPU that others took, or
	foreignShare = 0.05 // of the host's CPUs if that is more
	idleCores    = 0.2  // so little left, or
	idleShare    = 0.05 // of the host's CPUs if that is more, is no room for anything else
	stolenCores  = 0.1  // CPU that the hypervisor took, of which latencies hold the pauses

	// runWaitShare is the part of the time in which the agent's threads were
	// ready to run and waited for a CPU, summed over threads.
	runWaitShare = 0.1
	// LateLag is how long after its time a request is sent late. A lag of less
	// than lateShare of the latency beside it does not matter: where answers take
	// half a second, 2 ms are not what limits.
	LateLag   = 2 * time.Millisecond
	lateShare = 0.05

	// throttledShare is the part of the time in which an agent was throttled by a
	// limit of its own. What is due while it stands still it sends late: 1% of
	// the time would be the p99 of all answers, so that half of it is too much.
	throttledShare = 0.005
)

// Busy reports whether others took so much CPU that they may have held up what the
// experiment started: processes that it did not start, or the hypervisor. To a
// service that waits for a CPU it is the same which of them has it.
func Busy(taken float64, cpus int) bool {
	return taken >= max(foreignCores, foreignShare*float64(cpus))
}

// Full reports whether a host had no room left for anything else.
func Full(idle float64, cpus int) bool { return idle < max(idleCores, idleShare*float64(cpus)) }

// Stolen reports whether the hypervisor took so much CPU that it shows: what is
// slow may have stood still for that.
func Stolen(steal float64) bool { return steal >= stolenCores }

// SentLate reports whether a lag of sending matters beside a latency, both of
// the same quantile.
func SentLate(lag, latency time.Duration) bool {
	return lag >= LateLag && float64(lag) >= lateShare*float64(latency)
}

// Waited reports whether an agent waited for a CPU for much of its time. It
// disturbs only where it also sent late. Both are seconds.
func Waited(runWait, seconds float64) bool { return runWait >= runWaitShare*seconds }

// AgentThrottled reports whether an agent was throttled for so much of its time
// that what it told is its own limit's doing. Both are seconds.
func AgentThrottled(throttled, seconds float64) bool {
	return throttled > 0 && throttled >= throttledShare*seconds
}
