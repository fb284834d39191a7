package workload

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/millicore/millicore/internal/base/safefile"
)

// unused is how long an unused installation is kept, because another version of
// millicore may still be in use. It is much longer than a run, and a run marks its
// installation as used when it starts, so no lock is needed.
const unused = 30 * 24 * time.Hour

// own matches the names of installations, complete and unfinished ones. Nothing else in
// the cache is changed.
var own = regexp.MustCompile(`^([0-9a-f]{16}(-node(-[0-9a-f]{16})?)?|` + regexp.QuoteMeta(unfinished) + `.+)$`)

// use marks a folder as used now, if it exists. It must precede the check whether the
// folder exists, because a marked folder is not removed. Without permission to mark it
// there is no permission to remove it either.
func use(dir string) {
	now := time.Now()
	_ = safefile.For(dir, func() error { return os.Chtimes(dir, now, now) })
}

// prune removes the entries of dir that no run has used for a long time, except keep.
// An entry that cannot be removed is reported and kept; the run does not need it.
func (in installation) prune(dir, keep string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		in.progress(fmt.Sprintf("look for unused packages of the sample services: %v", err))
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		if err != nil || !e.IsDir() || path == keep || !own.MatchString(e.Name()) || time.Since(info.ModTime()) < unused {
			continue
		}
		switch err := remove(path); {
		case errors.Is(err, fs.ErrNotExist): // another millicore removed it
		case err != nil:
			in.progress(fmt.Sprintf("%v; no run has used it for 30 days: remove it by hand", err))
		default:
			in.progress("removed " + path + ", of the sample services, which no run has used for 30 days")
		}
	}
}

// remove renames a folder before it removes it, so that a partial folder is never found
// under its name.
func remove(path string) error {
	aside, err := os.MkdirTemp(filepath.Dir(path), unfinished)
	if err != nil {
		return err
	}
	err = os.Rename(path, filepath.Join(aside, filepath.Base(path)))
	return errors.Join(err, os.RemoveAll(aside))
}
