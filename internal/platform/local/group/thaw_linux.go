package group

import (
	"strconv"

	"github.com/millicore/millicore/internal/cgroup"
)

// thaw lets a process end that was killed while the freezer of cgroup v1 holds it, which
// delays even SIGKILL; that of v2 does not. The process moves into Millicore's own group of
// that hierarchy, which runs: the frozen group may hold processes of others. It ignores
// errors, because the process may have ended, and the caller looks for it again.
func thaw(pid int) {
	held, err := cgroup.Host().Process(pid)
	if err != nil {
		return
	}
	at, known := held.Place(cgroup.Freezer).Get()
	if frozen, ok := held.Frozen().Get(); !known || at.Version != cgroup.V1 || !ok || !frozen {
		return
	}
	own, err := cgroup.Host().Self(cgroup.Freezer)
	if err != nil {
		return
	}
	if to, ok := own.Place(cgroup.Freezer).Get(); ok {
		_ = set(to.Dir, "cgroup.procs", strconv.Itoa(pid))
	}
}
