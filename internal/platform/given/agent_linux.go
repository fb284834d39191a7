package given

import (
	"os/exec"
	"syscall"
)

// endWithUs has the kernel kill the agent when this process dies, and keeps the
// terminal's signals from it: its input's end tells it to end.
func endWithUs(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// alive tells whether a process is there; a zombie is.
func alive(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }
