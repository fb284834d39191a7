package local

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/test/testkit"
)

// asRoot skips a test that changes users.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
}

// ids are the four user or group IDs of a replica's process if they are the same.
func ids(t *testing.T, r platform.Replica, key string) int {
	t.Helper()
	fields := strings.Fields(mustGet(t, r, "/status?"+key))
	for _, field := range fields {
		if field != fields[0] {
			t.Fatalf("%s: %v", key, fields)
		}
	}
	id, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestServicesRunAsTheirUser(t *testing.T) {
	asRoot(t)
	for _, test := range []struct {
		as       string
		uid, gid int
	}{
		{"", 0, 0},
		{experiment.Caller, 0, 0},
		{"root", 0, 0},
		{"12345", 12345, 12345},
		{"12345:54321", 12345, 54321},
		{"nobody", nobody.UID, nobody.GID},
	} {
		t.Run(test.as, func(t *testing.T) {
			u := server(t.TempDir())
			u.RunAs = test.as
			r := start(t, open(t, Options{}), u).Replicas()[0]
			if uid, gid := ids(t, r, "Uid"), ids(t, r, "Gid"); uid != test.uid || gid != test.gid {
				t.Errorf("it runs as %d:%d, want %d:%d", uid, gid, test.uid, test.gid)
			}
			if groups := strings.Fields(mustGet(t, r, "/status?Groups")); test.uid != 0 && (len(groups) != 1 || groups[0] != strconv.Itoa(test.gid)) {
				t.Errorf("its groups are %v, want only its own", groups)
			}
			if nnp := mustGet(t, r, "/status?NoNewPrivs"); nnp != "1" {
				t.Errorf("NoNewPrivs is %s, want 1", nnp)
			}
		})
	}
}

// A user without a home gets one of the run's own, the same in all trials, which is removed.
func TestAUserWithoutAHome(t *testing.T) {
	asRoot(t)
	p := open(t, Options{})
	one := server(t.TempDir())
	one.RunAs = "12345"
	r := start(t, p, one).Replicas()[0]
	home := variable(t, r, "HOME")
	info, err := os.Stat(home)
	if err != nil {
		t.Fatal(err)
	}
	if owner := int(info.Sys().(*syscall.Stat_t).Uid); owner != 12345 || info.Mode().Perm() != 0o700 {
		t.Errorf("its home %s has owner %d and mode %v, want 12345 and 0700", home, owner, info.Mode())
	}
	if tmp := variable(t, r, "TMPDIR"); tmp != home {
		t.Errorf("TMPDIR is %q, want %s", tmp, home)
	}
	again := one
	again.Trial, again.Logs = 2, t.TempDir()
	if next := variable(t, start(t, p, again).Replicas()[0], "HOME"); next != home {
		t.Errorf("its home in the next trial is %s, want %s", next, home)
	}
	if err := os.WriteFile(filepath.Join(home, "cache"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(home)); !os.IsNotExist(err) {
		t.Errorf("its home is left: %v", err)
	}
}

// variable is a variable of a replica's environment.
func variable(t *testing.T, r platform.Replica, name string) string {
	t.Helper()
	return lookup(strings.Split(mustGet(t, r, "/env"), "\n"), name)
}

// The environment of the caller's session names folders that another user cannot use;
// what the experiment states has precedence.
func TestAnotherUserHasItsOwnSession(t *testing.T) {
	asRoot(t)
	t.Setenv("XDG_CACHE_HOME", "/root/cache")
	t.Setenv("KEPT", "kept")
	p := open(t, Options{})
	u := server(t.TempDir())
	u.RunAs, u.Env = "12345", map[string]string{"TMPDIR": "/stated"}
	r := start(t, p, u).Replicas()[0]
	for name, want := range map[string]string{"XDG_CACHE_HOME": "", "KEPT": "kept", "TMPDIR": "/stated"} {
		if got := variable(t, r, name); got != want {
			t.Errorf("%s=%q, want %q", name, got, want)
		}
	}
}

func TestAnotherUserMayOpenItsOutputAgain(t *testing.T) {
	asRoot(t)
	p := open(t, Options{})
	u := doing(t, "reopen")
	u.RunAs = "12345"
	if _, err := p.Start(t.Context(), u); err == nil {
		t.Fatal("it serves")
	}
	if log := logOf(t, u.Logs); !strings.Contains(log, "opened again") {
		t.Errorf("the log is %q", log)
	}
}

func TestAnotherUserCannotReachTheProgram(t *testing.T) {
	asRoot(t)
	shut := t.TempDir()
	if err := os.Chmod(shut, 0o700); err != nil {
		t.Fatal(err)
	}
	p := open(t, Options{})
	u := server(t.TempDir())
	u.RunAs, u.Dir = "12345", shut
	_, err := p.Start(t.Context(), u)
	if err == nil || !strings.Contains(err.Error(), "enter the folder "+shut) || !strings.Contains(err.Error(), "user 12345") || !strings.Contains(err.Error(), "user: caller") {
		t.Errorf("error %v, want one with the folder, the user and what to do", err)
	}
}

func TestUsersThatAreRefused(t *testing.T) {
	for _, test := range []struct {
		name   string
		uid    int
		as     string
		refuse string // a part of the error; "": none
	}{
		{"root, anybody", 0, "12345", ""},
		{"root, an unknown name", 0, "no-such-user", "no user"},
		{"an ordinary user, nothing", 1000, "", ""},
		{"an ordinary user, itself", 1000, experiment.Caller, ""},
		{"an ordinary user, its number", 1000, "1000:1000", ""},
		{"an ordinary user, another group", 1000, "1000:0", "only root"},
		{"an ordinary user, another user", 1000, "0", "only root"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := checkUserFor(test.uid, test.uid, test.as)
			if (err == nil) != (test.refuse == "") || err != nil && !strings.Contains(err.Error(), test.refuse) {
				t.Errorf("error %v, want %q", err, test.refuse)
			}
		})
	}
}

func TestTheNumberOfProcessesIsLimited(t *testing.T) {
	var notes []string
	p := open(t, Options{Note: func(note string) { notes = append(notes, note) }})
	if !p.run.Has(cgroup.PIDs) {
		testkit.Missing(t, "the pids controller of cgroups")
	}
	u := doing(t, "fork")
	u.Limits.PIDs = 60
	_, err := p.Start(t.Context(), u)
	if err == nil || !strings.Contains(err.Error(), "at its limit of 60 (limits.pids)") {
		t.Errorf("error %v, want the limit in it", err)
	}
	if all := strings.Join(notes, "\n"); !strings.Contains(all, "server: the kernel refused it a process or a thread") {
		t.Errorf("notes %q, want one of the limit", all)
	}
}

// Without a limit in the experiment there is one that a fork bomb meets.
func TestTheDefaultNumberOfProcesses(t *testing.T) {
	p := open(t, Options{})
	if !p.run.Has(cgroup.PIDs) {
		testkit.Missing(t, "the pids controller of cgroups")
	}
	u := start(t, p, server(t.TempDir()))
	for _, limits := range []experiment.Limits{{Replicas: 1}, {Replicas: 1, PIDs: 100}, {Replicas: 1}} {
		if err := u.(*unit).Resize(t.Context(), limits); err != nil {
			t.Fatal(err)
		}
		want := strconv.Itoa(withPIDs(limits).PIDs)
		if got := p.limit(t, u, "pids.max"); got != want {
			t.Errorf("pids.max is %s, want %s", got, want)
		}
	}
}

// limit is what a file of a replica's group has.
func (l *local) limit(t *testing.T, u platform.Unit, name string) string {
	t.Helper()
	for _, file := range u.(*unit).replicas[0].group.Joins() {
		if text, err := os.ReadFile(filepath.Join(filepath.Dir(file), name)); err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	t.Fatalf("no group has %s", name)
	return ""
}
