package group

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/cgroup"
)

// Survey reads the facts of this host and process.
func Survey() (Facts, error) {
	self, err := cgroup.Host().Self()
	if err != nil {
		return Facts{}, err
	}
	f := Facts{
		UID:     os.Geteuid(),
		PID:     os.Getpid(),
		Scope:   os.Getenv(ScopeVariable),
		Systemd: exists("/run/systemd/system"), // as sd_booted(3) does
	}
	f.SystemdRun, _ = exec.LookPath("systemd-run")
	_, noSudo := exec.LookPath("sudo")
	f.Sudo = noSudo == nil
	for _, c := range []cgroup.Controller{cgroup.CPU, cgroup.CPUAcct, cgroup.Memory, cgroup.CPUSet, cgroup.PIDs} {
		if p, ok := self.Place(c).Get(); ok && p.Version == cgroup.V1 {
			f.addV1(c, p.Dir)
		}
	}
	if p, ok := self.Place(cgroup.Unified).Get(); ok {
		f.V2 = surveyV2(p)
		f.UserManager = userManager(p.Top, f.UID)
	}
	return f, nil
}

// Exec replaces this process by the same command started as w.Rerun says. It
// returns only on failure.
func (w Way) Exec() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	argv := slices.Concat(w.Rerun, []string{program}, os.Args[1:])
	err = syscall.Exec(argv[0], argv, append(os.Environ(), ScopeVariable+"="+w.Scope))
	return fmt.Errorf("start this program again in a scope: %s: %w", strings.Join(argv, " "), err)
}

// addV1 adds a controller; several may be mounted as one hierarchy.
func (f *Facts) addV1(c cgroup.Controller, dir string) {
	i := slices.IndexFunc(f.V1, func(h V1) bool { return h.Dir == dir })
	if i < 0 {
		f.V1 = append(f.V1, V1{Dir: dir, Writable: writable(dir), ReadOnly: readOnly(dir)})
		i = len(f.V1) - 1
	}
	f.V1[i].Controllers = append(f.V1[i].Controllers, c)
}

func surveyV2(p cgroup.Place) *V2 {
	own := outermost(p.Dir)
	return &V2{
		Top:            p.Top,
		TopIsRoot:      !exists(path.Join(p.Top, "cgroup.events")), // only the root has none
		TopControllers: words(path.Join(p.Top, "cgroup.controllers")),
		TopWritable:    writable(p.Top),
		Own:            own,
		OwnControllers: words(path.Join(own, "cgroup.controllers")),
		OwnWritable:    writable(own),
		Delegated:      delegated(own),
		ReadOnly:       readOnly(own),
	}
}

// writable reports whether groups can be made in a group and processes and
// controllers be moved there.
func writable(dir string) bool {
	for _, file := range []string{"", "cgroup.procs", "cgroup.subtree_control"} {
		err := unix.Faccessat(unix.AT_FDCWD, path.Join(dir, file), unix.W_OK, unix.AT_EACCESS)
		if err != nil && !(file == "cgroup.subtree_control" && errors.Is(err, unix.ENOENT)) {
			return false
		}
	}
	return true
}

// readOnly reports whether a group lies in a mount that nobody can write.
func readOnly(dir string) bool {
	var mount unix.Statfs_t
	return unix.Statfs(dir, &mount) == nil && mount.Flags&unix.ST_RDONLY != 0
}

// delegated reads systemd's mark: user.delegate since version 251,
// trusted.delegate before (only root can read it).
func delegated(dir string) bool {
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		value := make([]byte, 8)
		n, err := unix.Getxattr(dir, name, value)
		if err == nil && string(value[:n]) == "1" {
			return true
		}
	}
	return false
}

// userManager returns the controllers that are delegated to the user's systemd.
func userManager(top string, uid int) []string {
	user := strconv.Itoa(uid)
	return words(path.Join(top, "user.slice", "user-"+user+".slice", "user@"+user+".service", "cgroup.controllers"))
}

// words reads a file of words. It returns nil if the file cannot be read.
func words(file string) []string {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
