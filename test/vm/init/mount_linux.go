package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

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
	err := errors.Join(
		mount("proc", "/proc", ""),
		mount("sysfs", "/sys", ""),
		mount("devtmpfs", "/dev", ""),
		mount("tmpfs", "/tmp", "mode=1777"),
		mount("tmpfs", "/run", "mode=755"),
		loopbackUp(),
	)
	// As udev, or a container runtime, makes them.
	for i, name := range []string{"stdin", "stdout", "stderr"} {
		err = errors.Join(err, os.Symlink(fmt.Sprintf("/proc/self/fd/%d", i), filepath.Join("/dev", name)))
	}
	return err
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
	for _, controllers := range []string{"cpu,cpuacct", "memory", "cpuset", "pids"} {
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
