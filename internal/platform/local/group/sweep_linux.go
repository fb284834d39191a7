package group

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/platform/guard"
)

// Swept is the result of Sweep.
type Swept struct {
	Removed []string // groups, folders and processes of dead runs
	Living  []int    // pids of living runs
}

// Sweep kills and removes what dead runs with a ledger in the folder state left. It
// does not touch living runs, and what is in no ledger.
func Sweep(state string) (Swept, error) {
	var s Swept
	files, err := os.ReadDir(state)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = stateFolder(state)
	}
	if err != nil {
		return s, fmt.Errorf("search for leftovers of dead runs: %w", err)
	}
	var errs []error
	for _, f := range files {
		if strings.HasPrefix(f.Name(), prefix) && !justBegun(f) {
			errs = append(errs, s.sweep(filepath.Join(state, f.Name())))
		}
	}
	return s, errors.Join(errs...)
}

// justBegun reports whether a file may be a ledger that is just being made: it does not
// have its final name yet and may not be locked.
func justBegun(f fs.DirEntry) bool {
	if strings.HasSuffix(f.Name(), ledgerSuffix) {
		return false
	}
	info, err := f.Info()
	if err != nil {
		return true
	}
	age := time.Since(info.ModTime()) // negative after the machine's clock was set back
	return age.Abs() < time.Minute
}

// sweep sweeps the run of one ledger, or removes a ledger that was never completed.
func (s *Swept) sweep(name string) error {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process removed it
	}
	if err != nil {
		return err
	}
	defer file.Close()
	locked := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	b, err := parseLedger(text)
	if err != nil {
		return fmt.Errorf("ledger %s: %w; remove it, and the groups it names, by hand", name, err)
	}
	if !locked {
		s.Living = append(s.Living, b.begin.PID)
		return nil
	}
	if b.begin.Boot == proc.BootID() {
		run := strings.TrimSuffix(filepath.Base(name), ledgerSuffix)
		escaped, err := killEach(func() ([]guard.Process, error) {
			marked, err := withMark(func(mark string) bool { return strings.HasPrefix(mark, run+"/") })
			return append(marked, b.escaped...), err
		})
		s.Removed = append(s.Removed, escaped...)
		if err != nil {
			return fmt.Errorf("processes of the dead run %s: %w", run, err)
		}
		if err := s.erase(b); errors.Is(err, errInUse) {
			return nil
		} else if err != nil {
			return err
		}
	}
	if err := s.eraseFolders(b); err != nil {
		return err
	}
	return os.Remove(name)
}

// eraseFolders removes the folders of a book, which survive a boot. Their processes have
// ended.
func (s *Swept) eraseFolders(b book) error {
	var errs []error
	for _, dir := range slices.Sorted(maps.Keys(b.folders)) {
		removed, err := b.folders[dir].remove()
		if err != nil {
			errs = append(errs, fmt.Errorf("remove leftovers of process %d: %w", b.begin.PID, err))
		} else if removed {
			s.Removed = append(s.Removed, dir)
		}
	}
	return errors.Join(errs...)
}

// errInUse reports that a living run needs the controllers that a dead run enabled, so
// that the processes in the dead run's leaf cannot move back yet. A later Sweep removes
// the leaf.
var errInUse = errors.New("another run uses it")

// erase removes what a book lists and still exists.
func (s *Swept) erase(b book) error {
	var errs []error
	for _, m := range slices.Backward(b.made) {
		if inode, err := inodeOf(m.Dir); err != nil || inode != m.Inode {
			continue // removed, or replaced by another one
		}
		home := moved{Home: path.Dir(m.Dir)}
		if i := slices.IndexFunc(b.leaves, func(l moved) bool { return path.Dir(l.Leaf) == m.Dir }); i >= 0 {
			home = b.leaves[i]
		}
		if err := erase(m.Dir, home); err != nil {
			errs = append(errs, fmt.Errorf("remove leftovers of process %d: %w", b.begin.PID, err))
			continue
		}
		s.Removed = append(s.Removed, m.Dir)
	}
	for _, dir := range b.maybe {
		if !slices.ContainsFunc(b.made, func(m made) bool { return m.Dir == dir }) {
			// The run was killed before it recorded the inode: then it is empty.
			if os.Remove(dir) == nil {
				s.Removed = append(s.Removed, dir)
			}
		}
	}
	return errors.Join(errs...)
}

// erase kills and removes a run's directory in a home. The processes in its leaf do not
// belong to the run: they move back to the home, which must have no controllers enabled
// for that.
func erase(dir string, m moved) error {
	if err := kill([]string{dir}, m.Leaf); err != nil {
		return err
	}
	if err := remove(dir, m.Leaf); err != nil || m.Leaf == "" {
		return err
	}
	if err := withdraw(dir, words(path.Join(dir, "cgroup.subtree_control"))); err != nil {
		return err
	}
	if err := withdraw(m.Home, m.Controllers); errors.Is(err, syscall.EBUSY) {
		return errInUse
	} else if err != nil {
		return err
	}
	if err := move(m.Leaf, m.Home); err != nil {
		return err
	}
	return remove(dir, "")
}

// withdraw disables controllers for the groups below a group.
func withdraw(dir string, controllers []string) error {
	for _, c := range controllers {
		if err := set(dir, "cgroup.subtree_control", "-"+c); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("withdraw the %s controller: %w", c, err)
		}
	}
	return nil
}
