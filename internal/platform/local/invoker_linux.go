package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/base/safefile"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/local/account"
)

// unstated is the runner of a unit whose user the experiment does not state. With sudo it
// is the user who called it, who would run the service so without Millicore, unless the
// unit certainly needs more rights.
func (l *local) unstated(u platform.UnitSpec, program string, args []string) (*runner, error) {
	a, ok := account.Invoker()
	if !ok {
		return &runner{}, nil
	}
	return l.known(u, func() (*runner, error) {
		if why := needsMore(u, program, args, a); why != "" {
			l.warn(fmt.Sprintf("%s runs as root, and not as %s, who called sudo: %s; state user: caller (try --user caller) if it shall", filepath.Base(program), a, why))
			return &runner{}, nil
		}
		l.warn(fmt.Sprintf("%s runs as %s, who called sudo, and not as root; user: caller (try --user caller) runs it as root", filepath.Base(program), a))
		r, err := l.runnerOf(a)
		if err == nil {
			r.invoker = a.String()
		}
		return r, err
	})
}

// needsMore describes what a unit needs and a user may not do; "" if that is not known. The
// program and the files in its arguments are looked at. What the program opens itself shows
// only when it runs.
func needsMore(u platform.UnitSpec, program string, args []string, a account.Account) string {
	if u.Port != 0 && u.Port < unprivileged() {
		return fmt.Sprintf("only root can listen on port %d", u.Port)
	}
	why := make(chan string, 1)
	go func() { // Do needs a goroutine of its own
		with := safefile.Rights{User: a.UID, Group: a.GID, Groups: a.Groups}
		err := with.Do(func() error {
			if err := refused(program, u.Dir, args[1:]); err != nil {
				return err
			}
			return executableBy(program, a)
		})
		switch at := (*fs.PathError)(nil); {
		case errors.As(err, &at) && errors.Is(err, fs.ErrPermission):
			why <- fmt.Sprintf("%s may not %s %s", a, at.Op, at.Path)
		default:
			why <- ""
		}
	}()
	return <-why
}

// refused is the error of the first of a unit's files that the user of this thread may not
// use: its folder, its program, and the files in its arguments.
func refused(program, dir string, args []string) error {
	if dir == "" {
		dir = "."
	}
	if _, err := os.Stat(dir + "/."); err != nil {
		return &fs.PathError{Op: "enter", Path: dir, Err: err}
	}
	if err := readable(program); err != nil {
		return err
	}
	for _, arg := range args {
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") { // --config=FILE
			arg = value
		}
		if arg == "" || strings.HasPrefix(arg, "-") {
			continue
		}
		if !filepath.IsAbs(arg) {
			arg = filepath.Join(dir, arg)
		}
		if err := readable(arg); errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

// readable is the error of opening a file or a folder to read it. Only these are opened.
func readable(name string) error {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil
	}
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	}
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		return &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return f.Close()
}

// executableBy reports by its mode that a user may not run a program.
func executableBy(program string, a account.Account) error {
	info, err := os.Stat(program)
	if err != nil {
		return err
	}
	bit := fs.FileMode(0o001)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		switch group := int(stat.Gid); {
		case int(stat.Uid) == a.UID:
			bit = 0o100
		case group == a.GID || slices.Contains(a.Groups, group):
			bit = 0o010
		}
	}
	if info.Mode().Perm()&bit == 0 {
		return &fs.PathError{Op: "run", Path: program, Err: fs.ErrPermission}
	}
	return nil
}

// unprivileged is the first port that every user may listen on (ip(7)).
func unprivileged() int {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_unprivileged_port_start")
	if err == nil {
		if port, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			return port
		}
	}
	return 1024
}

// explained adds to the error of a start that the unit ran with fewer rights than the
// caller's.
func (u *unit) explained(err error) error {
	for _, r := range u.replicas {
		if r.invoker != "" {
			return fmt.Errorf("%w; it ran as %s, who called sudo: if it needs root's rights, state user: caller (try --user caller)", err, r.invoker)
		}
	}
	return err
}
