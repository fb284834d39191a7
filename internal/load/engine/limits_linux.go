package engine

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// spareFiles are descriptors that the process needs besides its connections.
const spareFiles = 64

// allowFiles raises the limit of open files as far as the connections need it.
func allowFiles(connections int) error {
	need := uint64(connections + spareFiles)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	if limit.Cur >= need {
		return nil
	}
	raised := limit
	raised.Cur, raised.Max = need, max(limit.Max, need)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &raised); err != nil {
		return fmt.Errorf("%d connections need %d open files and the limit is %d: raise it (ulimit -n), or ask for fewer connections: %w",
			connections, need, limit.Max, err)
	}
	return nil
}
