package inspect

import "golang.org/x/sys/unix"

// mostFiles is the maximum number of open files of this process.
func mostFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(limit.Cur, 1<<20))
}
