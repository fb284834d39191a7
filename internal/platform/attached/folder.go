package attached

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// folderPrefix begins the names of folders for records that are not kept; the pid of
// their process follows.
const folderPrefix = "millicore-load-"

// Folder makes a folder for a record that is not kept, in the system's folder for
// temporary files.
func Folder() (string, error) {
	return os.MkdirTemp("", fmt.Sprintf("%s%d-*", folderPrefix, os.Getpid()))
}

// Sweep removes such folders of processes that have ended, and returns their names.
func Sweep() (removed []string, err error) {
	all, err := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*"))
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, dir := range all {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), folderPrefix), "-")
		pid, err := strconv.Atoi(owner)
		if err != nil || pid <= 0 || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, dir)
	}
	return removed, errors.Join(errs...)
}
