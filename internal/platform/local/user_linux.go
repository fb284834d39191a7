package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/local/account"
	"github.com/millicore/millicore/internal/platform/local/shim"
)

// runner is the user of a unit of this run. It is the same in all trials.
type runner struct {
	user *shim.User // nil: the caller
	env  []string   // variables that replace those of the caller's session
	// invoker is the name of the user who called sudo, if that is why the unit runs as it.
	invoker string
}

// session are the variables that describe the caller's login. Those that name folders
// would lead another user into folders that it may not use.
var session = []string{"HOME", "USER", "LOGNAME", "MAIL", "TMPDIR", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"}

// adapt returns the caller's environment for the runner.
func (r *runner) adapt(environ []string) []string {
	if len(r.env) == 0 {
		return environ
	}
	kept := slices.DeleteFunc(slices.Clone(environ), func(line string) bool {
		name, _, _ := strings.Cut(line, "=")
		return slices.Contains(session, name)
	})
	return append(kept, r.env...)
}

// checkUser reports a user that services cannot run as here.
func checkUser(text string) error { return checkUserFor(os.Geteuid(), os.Getegid(), text) }

func checkUserFor(uid, gid int, text string) error {
	if text == "" || text == experiment.Caller {
		return nil
	}
	if uid != 0 {
		if a, err := account.Lookup(text); err == nil && a.UID == uid && a.GID == gid {
			return nil
		}
		return fmt.Errorf("user: %s: only root can start a service as another user; run millicore as root (sudo), or leave user out", text)
	}
	_, err := account.Lookup(text)
	return err
}

// runner returns the user of a unit with a program and its arguments. The first unit of a
// name and a user finds it.
func (l *local) runner(u platform.UnitSpec, program string, args []string) (*runner, error) {
	switch {
	case u.User != nil:
		return &runner{user: &shim.User{UID: u.User.UID, GID: u.User.GID}}, nil
	case u.RunAs == experiment.Caller:
		return &runner{}, nil
	case u.RunAs == "":
		return l.unstated(u, program, args)
	}
	if err := checkUser(u.RunAs); err != nil {
		return nil, err
	}
	return l.known(u, func() (*runner, error) {
		a, err := account.Lookup(u.RunAs)
		if err != nil {
			return nil, err
		}
		if a.UID == os.Geteuid() && a.GID == os.Getegid() {
			return &runner{}, nil
		}
		return l.runnerOf(a)
	})
}

// known returns the runner of a unit's name and user. find finds it once.
func (l *local) known(u platform.UnitSpec, find func() (*runner, error)) (*runner, error) {
	l.users.Lock()
	defer l.users.Unlock()
	key := [2]string{u.Name, u.RunAs}
	if r := l.runners[key]; r != nil {
		return r, nil
	}
	r, err := find()
	if err != nil {
		return nil, err
	}
	if l.runners == nil {
		l.runners = map[[2]string]*runner{}
	}
	l.runners[key] = r
	return r, nil
}

// runnerOf is the runner of an account. An account without a home gets a folder of the
// run as its home and for temporary files.
func (l *local) runnerOf(a account.Account) (*runner, error) {
	r := &runner{user: &shim.User{UID: a.UID, GID: a.GID, Groups: a.Groups}}
	if a.Name != "" {
		r.env = []string{"USER=" + a.Name, "LOGNAME=" + a.Name}
	}
	if info, err := os.Stat(a.Home); err == nil && info.IsDir() {
		r.env = append(r.env, "HOME="+a.Home)
		return r, nil
	}
	const home = "home"
	owner := &platform.User{Name: a.String(), UID: a.UID, GID: a.GID}
	around, err := l.Folder(os.TempDir(), owner)
	if err != nil {
		return nil, err
	}
	if err := platform.MakeDir(around.Path(), home, owner); err != nil {
		return nil, errors.Join(err, around.Remove())
	}
	dir := filepath.Join(around.Path(), home)
	r.env = append(r.env, "HOME="+dir, "TMPDIR="+dir)
	return r, nil
}
