package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// mount makes a mount point and mounts a file system on it.
func mount(kind, point, options string) error {
	if err := os.MkdirAll(point, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(kind, point, kind, 0, options); err != nil {
		return fmt.Errorf("mount %s on %s: %w", kind, point, err)
	}
	return nil
}

func mountBasics() error {
	return errors.Join(
		mount("proc", "/proc", ""),
		mount("sysfs", "/sys", ""),
		mount("devtmpfs", "/dev", ""),
		mount("tmpfs", "/tmp", "mode=1777"),
		mount("tmpfs", "/run", "mode=755"),
		loopbackUp(),
	)
}

// loopbackUp lets 127.0.0.1 answer.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

func mountV2() error { return mount("cgroup2", cgroups, "") }

// mountHybrid mounts cgroups as systemd did by default up to version 242: the
// controllers in v1 hierarchies, cpu and cpuacct together with a link for each,
// and an empty v2 hierarchy.
func mountHybrid() error {
	err := mount("tmpfs", cgroups, "")
	for _, controllers := range []string{"cpu,cpuacct", "memory", "cpuset"} {
		point := filepath.Join(cgroups, controllers)
		if err == nil {
			if err = os.MkdirAll(point, 0o755); err == nil {
				err = unix.Mount("cgroup", point, "cgroup", 0, controllers)
			}
		}
	}
	return errors.Join(err,
		mount("cgroup2", filepath.Join(cgroups, "unified"), ""),
		os.Symlink("cpu,cpuacct", filepath.Join(cgroups, "cpu")),
		os.Symlink("cpu,cpuacct", filepath.Join(cgroups, "cpuacct")),
	)
}

// delegate makes a group as systemd does for user 1000's scope with
// Delegate=yes.
func delegate() (string, error) {
	dir, err := makeGroups("user.slice", "user-1000.slice", "user@1000.service", "app.slice", "test.scope")
	if err != nil {
		return "", err
	}
	if err := unix.Setxattr(dir, "user.delegate", []byte("1"), 0); err != nil {
		return "", fmt.Errorf("mark %s as delegated: %w", dir, err)
	}
	// man 5 systemd.resource-control, "Delegate": these are the user's.
	for _, file := range []string{"", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"} {
		if err := os.Chown(filepath.Join(dir, file), 1000, 1000); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// makeBox makes a group as a container runtime does.
func makeBox() (string, error) { return makeGroups("box") }

// makeGroups makes groups one in the other, with the controllers enabled for
// the innermost.
func makeGroups(names ...string) (string, error) {
	dir := cgroups
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+cpu +memory +cpuset +pids"), 0); err != nil {
			return "", fmt.Errorf("enable controllers in %s: %w", strings.TrimPrefix(dir, cgroups), err)
		}
		dir = filepath.Join(dir, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return "", err
		}
	}
	return dir, nil
}
