package group

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/cgroup"
)

func TestWay(t *testing.T) {
	all := []string{"cpuset", "cpu", "io", "memory", "pids"}
	four := []cgroup.Controller{cgroup.CPU, cgroup.Memory, cgroup.CPUSet, cgroup.PIDs}
	split := []V1{
		{Controllers: []cgroup.Controller{cgroup.CPU, cgroup.CPUAcct}, Dir: "/sys/fs/cgroup/cpu,cpuacct", Writable: true},
		{Controllers: []cgroup.Controller{cgroup.Memory}, Dir: "/sys/fs/cgroup/memory/box", Writable: true},
		{Controllers: []cgroup.Controller{cgroup.CPUSet}, Dir: "/sys/fs/cgroup/cpuset", Writable: true},
	}
	pids := V1{Controllers: []cgroup.Controller{cgroup.PIDs}, Dir: "/sys/fs/cgroup/pids", Writable: true}
	lockedPIDs := pids
	lockedPIDs.Writable = false
	locked := slices.Clone(split)
	for i := range locked {
		locked[i].Writable = false
	}
	splitHomes := []Home{
		{Version: cgroup.V1, Dir: "/sys/fs/cgroup/cpu,cpuacct", Controllers: split[0].Controllers},
		{Version: cgroup.V1, Dir: "/sys/fs/cgroup/memory/box", Controllers: split[1].Controllers},
		{Version: cgroup.V1, Dir: "/sys/fs/cgroup/cpuset", Controllers: split[2].Controllers},
	}
	session := V2{
		Top: "/sys/fs/cgroup", TopIsRoot: true, TopControllers: all,
		Own:            "/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope",
		OwnControllers: []string{"memory", "pids"},
	}
	rootSession := session
	rootSession.TopWritable, rootSession.OwnWritable = true, true
	scope := V2{
		Top: "/sys/fs/cgroup", TopIsRoot: true, TopControllers: all,
		Own:            "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/millicore-77.scope",
		OwnControllers: []string{"cpu", "memory", "pids"}, OwnWritable: true,
	}
	delegatedScope := scope
	delegatedScope.Delegated = true
	containerDir := V2{Top: "/sys/fs/cgroup", Own: "/sys/fs/cgroup", TopControllers: all, OwnControllers: all}
	containerDir.ReadOnly = true
	writableContainer := containerDir
	writableContainer.TopWritable, writableContainer.OwnWritable, writableContainer.ReadOnly = true, true, false
	bare := V2{
		Top: "/sys/fs/cgroup", TopIsRoot: true, TopControllers: all, TopWritable: true,
		Own: "/sys/fs/cgroup", OwnControllers: all, OwnWritable: true,
	}
	below := bare
	below.Own = "/sys/fs/cgroup/openrc.sshd"
	v2Home := func(dir string, leaf bool, c ...cgroup.Controller) []Home {
		return []Home{{Version: cgroup.V2, Dir: dir, Controllers: c, Leaf: leaf}}
	}

	for _, test := range []struct {
		name   string
		facts  Facts
		homes  []Home
		rerun  string
		refuse string // a part of the error
	}{
		{
			name:  "v1, root",
			facts: Facts{V1: split}, homes: splitHomes,
		},
		{
			name:  "v1 with the limit of processes",
			facts: Facts{V1: append(slices.Clone(split), pids)},
			homes: append(slices.Clone(splitHomes), Home{Version: cgroup.V1, Dir: pids.Dir, Controllers: pids.Controllers, Optional: true}),
		},
		{
			name:  "v1 without access to the limit of processes, which is optional",
			facts: Facts{V1: append(slices.Clone(split), lockedPIDs)}, homes: splitHomes,
		},
		{
			name:  "v1 and an empty v2, root: pressure from v2",
			facts: Facts{V1: split, V2: &V2{Top: "/u", Own: "/u", TopIsRoot: true, TopWritable: true, OwnWritable: true}},
			homes: append(slices.Clone(splitHomes), Home{Version: cgroup.V2, Dir: "/u", Optional: true}),
		},
		{
			name:  "v1 without memory, which v2 has",
			facts: Facts{V1: split[:1], V2: &bare},
			homes: []Home{splitHomes[0], {Version: cgroup.V2, Dir: "/sys/fs/cgroup", Controllers: []cgroup.Controller{cgroup.Memory}, Optional: true}},
		},
		{
			name:   "v1, ordinary user",
			facts:  Facts{UID: 1000, V1: locked, V2: &session, Systemd: true, SystemdRun: "/bin/systemd-run", UserManager: all},
			refuse: "/sys/fs/cgroup/cpu,cpuacct cannot be written by user 1000; run millicore as root",
		},
		{
			name:   "no cgroups",
			facts:  Facts{},
			refuse: "not mounted",
		},
		{
			name:  "v2, root at the root",
			facts: Facts{V2: &bare}, homes: v2Home("/sys/fs/cgroup", false, four...),
		},
		{
			name:  "v2, root below the root, no systemd",
			facts: Facts{V2: &below}, homes: v2Home("/sys/fs/cgroup", false, four...),
		},
		{
			name:  "v2, root in a session",
			facts: Facts{PID: 77, V2: &rootSession, Systemd: true, SystemdRun: "/bin/systemd-run"},
			rerun: "/bin/systemd-run --scope --quiet --collect --unit=millicore-77.scope --property=Delegate=yes --",
		},
		{
			name:  "v2, user in a session, cpu delegated",
			facts: Facts{UID: 1000, PID: 77, V2: &session, Systemd: true, SystemdRun: "/bin/systemd-run", UserManager: all},
			rerun: "/bin/systemd-run --user --scope --quiet --collect --unit=millicore-77.scope --property=Delegate=yes --",
		},
		{
			name:   "v2, user in a session, cpu not delegated",
			facts:  Facts{UID: 1000, V2: &session, Systemd: true, SystemdRun: "/bin/systemd-run", UserManager: []string{"memory", "pids"}},
			refuse: "Delegate=cpu",
		},
		{
			name:   "v2, user in a session, no systemd-run",
			facts:  Facts{UID: 1000, V2: &session, Systemd: true, UserManager: all},
			refuse: "systemd-run is not in PATH",
		},
		{
			name:  "v2, started again in the scope it asked for",
			facts: Facts{UID: 1000, V2: &scope, Systemd: true, SystemdRun: "/bin/systemd-run", UserManager: all, Scope: "millicore-77.scope"},
			homes: v2Home(scope.Own, true, cgroup.CPU, cgroup.Memory, cgroup.PIDs),
		},
		{
			name:   "v2, started again but left where it was: no second try",
			facts:  Facts{UID: 1000, V2: &session, Systemd: true, SystemdRun: "/bin/systemd-run", UserManager: all, Scope: "millicore-77.scope"},
			refuse: "did not put this process into millicore-77.scope",
		},
		{
			name: "v2, the scope came without the cpu controller",
			facts: Facts{UID: 1000, Systemd: true, SystemdRun: "/bin/systemd-run", UserManager: all, Scope: "millicore-77.scope",
				V2: &V2{Top: scope.Top, TopIsRoot: true, Own: scope.Own, OwnWritable: true, OwnControllers: []string{"memory"}}},
			refuse: "the cpu controller is not delegated to " + scope.Own,
		},
		{
			name:  "v2, user in a delegated scope",
			facts: Facts{UID: 1000, V2: &delegatedScope, Systemd: true, SystemdRun: "/bin/systemd-run", UserManager: all},
			homes: v2Home(scope.Own, true, cgroup.CPU, cgroup.Memory, cgroup.PIDs),
		},
		{
			name:  "v2, a user's own group that systemd did not delegate is not rearranged",
			facts: Facts{UID: 1000, PID: 77, V2: &scope, Systemd: true, SystemdRun: "/bin/systemd-run", UserManager: all},
			rerun: "/bin/systemd-run --user --scope --quiet --collect --unit=millicore-77.scope --property=Delegate=yes --",
		},
		{
			name:  "v2, container with writable cgroups",
			facts: Facts{V2: &writableContainer}, homes: v2Home("/sys/fs/cgroup", true, four...),
		},
		{
			name:   "v2, container with read-only cgroups",
			facts:  Facts{V2: &containerDir},
			refuse: "/sys/fs/cgroup is read-only",
		},
		{
			name: "v2, container whose cpu controller is not enabled",
			facts: Facts{V2: &V2{Top: "/sys/fs/cgroup", Own: "/sys/fs/cgroup", TopWritable: true, OwnWritable: true,
				TopControllers: []string{"memory"}, OwnControllers: []string{"memory"}}},
			refuse: "the cpu controller is not enabled for /sys/fs/cgroup",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			way, err := test.facts.Way()
			if test.refuse != "" {
				if !errors.Is(err, ErrNoWay) || !strings.Contains(err.Error(), test.refuse) {
					t.Fatalf("way %+v, error %v; want the refusal: … %s …", way, err, test.refuse)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.homes, way.Homes); diff != "" {
				t.Error(diff)
			}
			if got := strings.Join(way.Rerun, " "); got != test.rerun {
				t.Errorf("rerun %q, want %q", got, test.rerun)
			}
		})
	}
}

// A user who follows the message gets a run: it names sudo and root only where root could
// make groups, and sudo only where it is installed. Systemd's scope and Docker are never
// named: a scope with the cpu controller is chosen without a word, and Docker's agents need
// groups of this host, too.
func TestARefusalNamesOnlyWaysThatExist(t *testing.T) {
	v1 := func(readOnly bool) []V1 {
		return []V1{{Controllers: []cgroup.Controller{cgroup.CPU}, Dir: "/sys/fs/cgroup/cpu", ReadOnly: readOnly}}
	}
	session := V2{Top: "/sys/fs/cgroup", TopIsRoot: true, TopControllers: []string{"cpu"}, Own: "/sys/fs/cgroup/user.slice"}
	container := V2{Top: "/sys/fs/cgroup", TopControllers: []string{"cpu"}, Own: "/sys/fs/cgroup", OwnControllers: []string{"cpu"}}
	readOnly := container
	readOnly.ReadOnly = true
	without := V2{Top: "/sys/fs/cgroup", Own: "/sys/fs/cgroup", TopWritable: true, OwnWritable: true}
	const root, sudo = "run millicore as root", "run millicore with sudo"
	const elsewhere = "run millicore where /sys/fs/cgroup has the cpu controller and can be written, as in a container that is started so"
	for _, c := range []struct {
		name  string
		facts Facts
		want  string
	}{
		{"v1", Facts{UID: 1000, V1: v1(false)}, "/sys/fs/cgroup/cpu cannot be written by user 1000; " + root},
		{"v1 with sudo", Facts{UID: 1000, V1: v1(false), Sudo: true}, "/sys/fs/cgroup/cpu cannot be written by user 1000; " + sudo},
		{"v1 with systemd", Facts{UID: 1000, V1: v1(false), Systemd: true, SystemdRun: "/bin/systemd-run", UserManager: []string{"cpu"}}, "/sys/fs/cgroup/cpu cannot be written by user 1000; " + root},
		{"v1, mounted read-only", Facts{UID: 1000, V1: v1(true), Sudo: true}, "/sys/fs/cgroup/cpu is read-only; " + elsewhere},
		{"v1, mounted read-only, root", Facts{V1: v1(true), Sudo: true}, "/sys/fs/cgroup/cpu is read-only; " + elsewhere},
		{"v2 without systemd", Facts{UID: 1000, V2: &session, SystemdRun: "/bin/systemd-run"}, "/sys/fs/cgroup/user.slice is not delegated to user 1000; " + root},
		{"v2 with systemd, which does not delegate cpu", Facts{UID: 1000, V2: &session, Systemd: true, SystemdRun: "/bin/systemd-run", Sudo: true},
			"systemd does not delegate the cpu controller to user 1000 (a file in /etc/systemd/system/user@.service.d with [Service] Delegate=cpu cpuset memory pids would); " + sudo},
		{"v2, a user of a container", Facts{UID: 1000, V2: &container}, "/sys/fs/cgroup cannot be written by user 1000; " + root},
		{"v2, a user of a container that mounts it read-only", Facts{UID: 1000, V2: &readOnly, Sudo: true}, "/sys/fs/cgroup is read-only; " + elsewhere},
		{"v2 without the controller", Facts{UID: 1000, V2: &without, Sudo: true}, "the cpu controller is not enabled for /sys/fs/cgroup; " + elsewhere},
		{"nothing is mounted", Facts{UID: 1000, Sudo: true}, "the cpu controller of cgroups is not mounted; " + elsewhere},
	} {
		if _, err := c.facts.Way(); err == nil || err.Error() != "no way to limit processes here: "+c.want {
			t.Errorf("%s:\ngot  %v\nwant no way to limit processes here: %s", c.name, err, c.want)
		}
	}
}

func TestOutermost(t *testing.T) {
	for dir, want := range map[string]string{
		"/a/b":                                 "/a/b",
		"/a/millicore-7-x/lab":                 "/a",
		"/a/millicore-7-x/lab/millicore-8/lab": "/a",
		"/a/other/lab":                         "/a/other/lab",
		"/":                                    "/",
	} {
		if got := outermost(dir); got != want {
			t.Errorf("outermost(%q) = %q, want %q", dir, got, want)
		}
	}
}
