package local

import (
	"os"
	"os/exec"
	"strings"

	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/platform/guard"
	"github.com/millicore/millicore/internal/platform/local/shim"
)

// start starts the replica's command in its own session, and remembers its process.
func (r *replica) start(stdin, stdout, stderr *os.File) (*exec.Cmd, error) {
	cmd, err := shim.Start(r.command, stdin, stdout, stderr)
	if err != nil {
		return nil, err
	}
	if stat, err := proc.ReadStat(cmd.Process.Pid); err == nil { // otherwise it has ended: Wait reports how
		r.processes.Add(guard.Process{PID: cmd.Process.Pid, Started: stat.Started})
	}
	return cmd, nil
}

// LimitBroken describes which of the replica's limits is not the one that was set, or how a
// process of the replica left its group; "" if all hold. See platform.LimitVerifier.
func (r *replica) LimitBroken() string {
	if why := r.group.Broken(); why != "" {
		return why
	}
	outside, why := r.processes.Outside(r.group.Dirs())
	if why != "" {
		if err := r.run.Escaped(outside); err != nil {
			r.keeper.Log.Note("%v", err)
		}
	}
	return why
}

// killEscaped kills the processes of the replica that are outside of its group, which was
// removed.
func (r *replica) killEscaped() error {
	names, err := r.run.KillEscaped(r.group, &r.processes)
	if len(names) > 0 {
		r.keeper.Log.Note("killed %s outside of its control group", strings.Join(names, ", "))
	}
	return err
}
