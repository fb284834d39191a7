package agent

import (
	"errors"

	"golang.org/x/sys/unix"
)

// CheckPolicy refuses SCHED_FIFO, under which a thread keeps its CPU until it sleeps: the
// runtime and the kernel then wait, without sleeping, for threads that the same CPU never
// runs, and not even SIGKILL ends the process. Under SCHED_RR threads take turns.
func CheckPolicy() error {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil || attr.Policy != unix.SCHED_FIFO {
		return nil // a kernel that does not report the policy refuses nothing
	}
	return errors.New("the scheduling policy is SCHED_FIFO (chrt --fifo), under which the threads of a program can block each other forever: start millicore without it, or with chrt --rr")
}
