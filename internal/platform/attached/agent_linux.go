package attached

import (
	"os/exec"
	"syscall"
)

// endWithUs makes the kernel kill the agent when this process dies. The agent does not
// get the terminal's signals: it ends when its input ends.
func endWithUs(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// alive reports whether a process exists. A zombie does.
func alive(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }
