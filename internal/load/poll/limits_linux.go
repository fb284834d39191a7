package poll

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// spareFiles is the number of descriptors for other purposes than connections.
const spareFiles = 64

// AllowFiles raises the limit of open files to what some pollers need for connections.
func AllowFiles(connections, pollers int) error {
	need := uint64(connections + pollers*mostParted + spareFiles)
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
		return fmt.Errorf("%d connections need %d open files and the limit is %d: raise it (ulimit -n), or configure fewer connections: %w",
			connections, need, limit.Max, err)
	}
	return nil
}
