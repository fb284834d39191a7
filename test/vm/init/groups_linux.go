package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// user is the ordinary user, and manager the group of its systemd.
const (
	user    = 1000
	manager = cgroups + "/user.slice/user-1000.slice/user@1000.service"
)

// makeScope makes a group as systemd does for a user's scope with Delegate=yes.
func makeScope() (string, error) { return delegated("test.scope") }

func delegated(scope string) (string, error) {
	dir := filepath.Join(manager, "app.slice", scope)
	if err := makeGroups(dir); err != nil {
		return "", err
	}
	if err := unix.Setxattr(dir, "user.delegate", []byte("1"), 0); err != nil {
		return "", fmt.Errorf("mark %s as delegated: %w", dir, err)
	}
	// man 5 systemd.resource-control, "Delegate": these are the user's.
	for _, file := range []string{"", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"} {
		if err := os.Chown(filepath.Join(dir, file), user, user); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// makeBox makes a group as a container runtime does.
func makeBox() (string, error) {
	dir := cgroups + "/box"
	return dir, makeGroups(dir)
}

// makeSession makes the group of a login, which the user may not change, on a host that
// seems to run systemd: it has a systemd-run.
func makeSession() (string, error) {
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return "", err
	}
	const program = "/bin/systemd-run"
	dir := cgroups + "/user.slice/user-1000.slice/session-1.scope"
	return dir, errors.Join(
		os.MkdirAll("/run/systemd/system", 0o755),
		os.MkdirAll(filepath.Dir(program), 0o755),
		os.WriteFile(program, self, 0o755),
		os.Chmod(program, os.ModeSetuid|0o755), // systemd acts as root when it is asked
		makeGroups(dir),
	)
}

// inScope replaces systemd-run --scope: it makes the scope, enters it and becomes the
// command. It returns only on failure.
func inScope(args []string) error {
	scope, command := "", []string(nil)
	for i, arg := range args {
		if unit, ok := strings.CutPrefix(arg, "--unit="); ok {
			scope = unit
		}
		if arg == "--" {
			command = args[i+1:]
			break
		}
	}
	want := "--user --scope --quiet --collect --unit=" + scope + " --property=Delegate=yes --"
	if got := strings.Join(args[:len(args)-len(command)], " "); got != want || scope == "" {
		return fmt.Errorf("systemd-run was called with %s, want %s", got, want)
	}
	dir, err := delegated(scope)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte("0"), 0); err != nil {
		return err
	}
	if err := syscall.Setuid(user); err != nil {
		return err
	}
	return syscall.Exec(command[0], command, os.Environ())
}

// makeGroups makes a group and those above it, with the controllers enabled for
// it.
func makeGroups(dir string) error {
	above := filepath.Dir(dir)
	if dir == cgroups {
		return nil
	}
	if err := makeGroups(above); err != nil {
		return err
	}
	if err := enable(above); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

// enable enables the controllers for groups below a group.
func enable(dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+cpu +memory +cpuset +pids"), 0); err != nil {
		return fmt.Errorf("enable controllers in %s: %w", dir, err)
	}
	return nil
}

// enableAll enables the controllers for the groups of tests below the root.
func enableAll() (string, error) { return "", enable(cgroups) }
