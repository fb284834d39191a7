package workload

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// unused is how long an installation is kept that no run has asked for: another
// version of millicore may still be in use beside this one. It is far longer
// than a run, so that nothing is taken from under one and no lock is needed: what
// a run uses, it has marked as used when it began.
const unused = 30 * 24 * time.Hour

// own matches what installations are called, whole ones and those that were
// begun and never finished. Nothing else in the cache is touched.
var own = regexp.MustCompile(`^([0-9a-f]{16}(-node)?|` + regexp.QuoteMeta(unfinished) + `.+)$`)

// use marks a folder as used now, where it is there. It comes before a look
// whether it is: what is marked is no longer removed. Where it may not be
// marked, it may not be removed either.
func use(dir string) {
	now := time.Now()
	_ = os.Chtimes(dir, now, now)
}

// prune removes what lies in dir and no run has used for long, except keep. What
// cannot be removed is told and left: the run has what it needs.
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
		case errors.Is(err, fs.ErrNotExist): // another millicore was faster
		case err != nil:
			in.progress(fmt.Sprintf("%v; no run has used it for 30 days: remove it by hand", err))
		default:
			in.progress("removed " + path + ", of the sample services, which no run has used for 30 days")
		}
	}
}

// remove removes a folder so that it is never found by its name in part.
func remove(path string) error {
	aside, err := os.MkdirTemp(filepath.Dir(path), unfinished)
	if err != nil {
		return err
	}
	err = os.Rename(path, filepath.Join(aside, filepath.Base(path)))
	return errors.Join(err, os.RemoveAll(aside))
}
