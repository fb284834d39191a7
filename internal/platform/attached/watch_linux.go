package attached

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Process is a process that is watched for its end. A later process with the same number
// is not mistaken for it.
type Process struct{ fd int }

// Watch starts to watch a process.
func Watch(pid int) (*Process, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, fmt.Errorf("watch process %d for its end: %w", pid, err)
	}
	return &Process{fd}, nil
}

// Ended reports whether the process has ended, even if its parent has not waited for it
// (pidfd_open(2): its descriptor is then readable).
func (p *Process) Ended() bool {
	fds := []unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n == 1 && fds[0].Revents&unix.POLLIN != 0
}

// Close stops watching.
func (p *Process) Close() error { return unix.Close(p.fd) }
