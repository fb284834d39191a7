package traffic

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Process is a process that is watched for its end. It is distinguished from one that
// gets its number later.
type Process struct{ fd int }

// Watch begins to watch a process.
func Watch(pid int) (*Process, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, fmt.Errorf("watch process %d for its end: %w", pid, err)
	}
	return &Process{fd}, nil
}

// Ended reports whether the process has ended, though nobody may have asked for
// its status yet (pidfd_open(2): its descriptor can then be read).
func (p *Process) Ended() bool {
	fds := []unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n == 1 && fds[0].Revents&unix.POLLIN != 0
}

// Close ends the watching.
func (p *Process) Close() error { return unix.Close(p.fd) }
