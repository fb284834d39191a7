// Command init is process 1 of a virtual machine that package vm boots. It mounts what
// tests of control groups need, runs the test programs of /tests in each situation of
// its layout, and writes the results to the console, where package vm reads them. Then
// it switches the machine off.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/test/vm/prebuilt"
)

// situation is a place in the tree of groups from which tests run.
type situation struct {
	name     string
	programs string                           // of /tests
	tests    string                           // a pattern; empty: all
	prepare  func() (group string, err error) // the group's directory; nil: the root
	user     uint32                           // who runs the tests
	private  bool                             // in a cgroup namespace, as in a container
	path     string                           // where they find programs
	flags    func() []string                  // further flags of the tests; nil: none
}

// layouts are the ways to mount cgroups; layout= of the kernel's command line
// chooses one.
var layouts = map[string]struct {
	mount      func() error
	situations []situation
}{
	"v2": {mountV2, []situation{
		{name: "root", programs: "group shim"},
		{name: "root", programs: "cgroup", tests: "TestReal"}, // with the controllers that group enabled
		{name: "root", programs: "local", tests: "NoWay|EachReplica|OutOfMemory|StopKills|Killed|NoLongerHolds|Frozen|StatedPeriod|BreaksNoLimit"},
		{name: "root", programs: sizing, tests: sizingTests, prepare: enableAll, path: tools},
		{name: "delegated", programs: "group local", prepare: makeScope, user: 1000},
		{name: "container", programs: "group", prepare: makeBox, private: true},
		{name: "session", programs: "local", tests: "TestEachReplica|TestAKilledRun", prepare: makeSession, user: 1000, path: "/bin"},
	}},
	"hybrid": {mountHybrid, []situation{
		{name: "root", programs: "group local"},
		{name: "root", programs: "cgroup", tests: "TestReal"},
		{name: "root", programs: sizing, tests: sizingTests, path: tools},
	}},
	"campaign": {mountV2, []situation{
		{name: "root", programs: "chaos", tests: "TestCampaign", flags: campaign},
	}},
}

// campaign are the flags of package chaos, from the kernel's command line.
func campaign() []string {
	return []string{"-platform=vm", "-programs=" + chaos, "-seed=" + parameter("seed"), "-runs=" + parameter("runs"), "-test.timeout=3h"}
}

// sizing are the test programs of the packages that find and fix badly sized services, and
// sizingTests their tests that use the kernel.
const (
	sizing      = "maxprocs auto inspect doctor"
	sizingTests = "TestReal|TestThisHost|TestAffinity"
)

const (
	cgroups = "/sys/fs/cgroup"
	tools   = "/tools" // programs of the host and replacements
	chaos   = "/chaos" // the programs of a campaign
)

func main() {
	switch {
	case filepath.Base(os.Args[0]) == "systemd-run":
		fail(inScope(os.Args[1:]))
	case filepath.Base(os.Args[0]) == "go":
		if err := prebuilt.Go(os.Args[1:]); err != nil {
			fail(err)
		}
		return
	case len(os.Args) > 1:
		fail(inContainer(os.Args[1:]))
	}
	if err := run(); err != nil {
		fmt.Println("VM error:", err)
	} else {
		fmt.Println("VM done")
	}
	unix.Sync()
	unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
	select {} // the machine switches off
}

func run() error {
	if err := mountBasics(); err != nil {
		return err
	}
	if err := makeTools(); err != nil {
		return err
	}
	name := parameter("layout")
	layout, ok := layouts[name]
	if !ok {
		return fmt.Errorf("no layout %q", name)
	}
	if err := layout.mount(); err != nil {
		return fmt.Errorf("layout %s: %w", name, err)
	}
	for _, s := range layout.situations {
		group := ""
		if s.prepare != nil {
			var err error
			if group, err = s.prepare(); err != nil {
				return fmt.Errorf("situation %s: %w", s.name, err)
			}
		}
		for _, program := range strings.Fields(s.programs) {
			fmt.Println("VM begin", s.name, program)
			fmt.Println("VM end", s.name, program, outcome(s.command("/tests/"+program, group).Run()))
		}
	}
	return nil
}

// makeTools adds a go command to the programs from the host, and the users that an nginx
// may need.
func makeTools() error {
	const users = "root:x:0:0::/:\nnobody:x:65534:65534::/:\nwww-data:x:33:33::/:\nnginx:x:33:33::/:\n"
	return errors.Join(
		os.MkdirAll(tools, 0o755),
		os.Symlink("/init", filepath.Join(tools, "go")),
		os.MkdirAll("/etc", 0o755),
		os.WriteFile("/etc/passwd", []byte(users), 0o644),
		os.WriteFile("/etc/group", []byte("root:x:0:\nnogroup:x:65534:\nwww-data:x:33:\nnginx:x:33:\n"), 0o644),
	)
}

// command is a test program in a situation.
func (s situation) command(program, group string) *exec.Cmd {
	// A timeout shows where a test hangs, and leaves time for the next programs.
	args := []string{"-test.v=test2json", "-test.timeout=6m", "-test.run=" + s.tests}
	if s.flags != nil {
		args = append(args, s.flags()...)
	}
	if s.private {
		program, args = "/proc/self/exe", append([]string{program}, args...)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = "/tmp"
	cmd.Env = []string{"PATH=" + s.path, "HOME=/tmp", "TMPDIR=/tmp", "CI=true"}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: s.user, Gid: s.user}}
	if group != "" {
		dir, err := os.Open(group)
		if err != nil {
			return &exec.Cmd{Err: err}
		}
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(dir.Fd())
	}
	if s.private {
		cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWCGROUP | unix.CLONE_NEWNS
		cmd.SysProcAttr.Credential = nil
	}
	return cmd
}

// inContainer mounts only the own group at /sys/fs/cgroup, and becomes a test program. It
// returns only on failure.
func inContainer(args []string) error {
	err := errors.Join(
		unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""),
		unix.Unmount(cgroups, unix.MNT_DETACH),
		unix.Mount("cgroup2", cgroups, "cgroup2", 0, ""),
	)
	if err != nil {
		return err
	}
	return syscall.Exec(args[0], args, os.Environ())
}

func fail(err error) {
	fmt.Println("VM error:", err)
	os.Exit(1)
}

func outcome(err error) string {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &exit):
		return exit.String()
	}
	return "not run: " + err.Error()
}

// parameter is a value of the kernel's command line.
func parameter(name string) string {
	line, _ := os.ReadFile("/proc/cmdline")
	for _, word := range strings.Fields(string(line)) {
		if value, ok := strings.CutPrefix(word, name+"="); ok {
			return value
		}
	}
	return ""
}
