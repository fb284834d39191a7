package supervise

import (
	"os"

	"golang.org/x/sys/unix"
)

// punch frees a part of a file. Its size stays (fallocate(2)).
func punch(f *os.File, from, length int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, length)
}
