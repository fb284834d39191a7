package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform/local"
	"github.com/millicore/millicore/internal/platform/local/group"
	"github.com/millicore/millicore/internal/platform/ports"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// leastMemory is the lowest limit that the daemon accepts.
const leastMemory = 6 << 20

// Check reports what of the experiment cannot run here. It creates the run's network,
// because only an attempt shows whether the daemon can do that; a dry run does not.
func (d *docker) Check(e *experiment.Experiment) error {
	errs := []error{e.NeedsNoCluster()}
	for i := range e.Cells {
		c := &e.Cells[i]
		about := func(err error) {
			if err != nil {
				errs = append(errs, fmt.Errorf("service %q: %w", c.Service.Name, err))
			}
		}
		about(d.checkService(c))
		about(d.checkLimits(c.Limits))
		if e.Profile && c.Service.Workload != "go" {
			about(errors.New("profiles of containers are available for the workload go only; leave profile out, or use --on local"))
		}
		for _, dependency := range c.Service.Dependencies {
			if err := errors.Join(d.checkDependency(&dependency), d.checkLimits(dependency.Limits)); err != nil {
				errs = append(errs, fmt.Errorf("dependency %q: %w", dependency.Name, err))
			}
		}
	}
	if e.Measure.Resize {
		errs = append(errs, checkResize(e.Cells))
	}
	if slices.ContainsFunc(e.Cells, func(c experiment.Cell) bool { return c.Load.Target() != nil }) {
		_, err := local.FindAgent(filepath.Join(d.options.Programs, "millicore-agent"))
		errs = append(errs, err)
	}
	if err := supervise.JoinDistinct(errs); err != nil || d.options.HostNetwork || d.options.DryRun {
		return err
	}
	_, err := d.ownNetwork(context.Background())
	return err
}

// checkResize reports a limit that Docker cannot remove while a container runs.
func checkResize(cells []experiment.Cell) error {
	for i := range cells {
		for j := range cells {
			if a, b := &cells[i], &cells[j]; a.Limits.Memory != 0 && b.Limits.Memory == 0 && a.Resizable(b) {
				return fmt.Errorf("service %q: Docker cannot remove its memory limit while it runs; leave measure.resize out, or give every cell a memory limit", a.Service.Name)
			}
		}
	}
	return nil
}

func (d *docker) checkService(c *experiment.Cell) error {
	s := &c.Service
	switch {
	case c.Load.Benchmark:
		return errors.New("a benchmark that ends by itself runs with --on local only")
	case s.Autoscale != nil:
		return errors.New("autoscale needs --on kubernetes; or set limits.replicas")
	case s.Command != nil:
		return errors.New("a command cannot run in a container: set image: to one that contains it, or use --on local")
	case !imageUser(s.User):
		return errUser(s.User)
	}
	if err := d.checkVolumes(s.Volumes); err != nil || !d.options.HostNetwork {
		return err
	}
	if err := ports.Check(s.Port, s.FindPort, c.Limits.Replicas); err != nil || s.Port == 0 {
		return err
	}
	return ports.Unused(s.Port)
}

func (d *docker) checkDependency(dep *experiment.Dependency) error {
	if dep.Command != nil {
		return errors.New("a command cannot run in a container: set image: to one that contains it, or url: to a server that already runs, or use --on local")
	}
	if !imageUser(dep.User) {
		return errUser(dep.User)
	}
	if dep.URL == "" || d.options.HostNetwork {
		return nil
	}
	if host, itself := supervise.Loopback(dep.URL); itself {
		return fmt.Errorf("%s means the container itself: let the containers use the machine's network (docker: {network: host} in the experiment file), or use an address that other machines can reach", host)
	}
	return nil
}

// imageUser reports whether a value of user can be one of an image.
func imageUser(user string) bool { return user != experiment.Caller }

func errUser(user string) error {
	return fmt.Errorf("user: %s is about processes of this machine; a container runs as the user of its image: leave user out, or state a user of the image (docker run --user)", user)
}

func (d *docker) checkLimits(l experiment.Limits) error {
	if err := group.CheckLimits(l); err != nil {
		return err
	}
	switch {
	case l.CPUMillis != 0 && !d.engine.cpuLimits:
		return errors.New("limit CPU: the Docker daemon has no CFS quota (see docker info); leave the CPU limit out, or use --on local")
	case l.Memory != 0 && !d.engine.memoryLimit:
		return errors.New("limit memory: the Docker daemon has no memory controller (see docker info; some kernels need cgroup_enable=memory); leave the memory limit out")
	case l.Memory != 0 && l.Memory < leastMemory:
		return fmt.Errorf("limit memory to %d bytes: Docker needs at least 6Mi", l.Memory)
	case l.BurstMillis != 0:
		return canBurst()
	}
	return nil
}

// canBurst reports why the burst of a container cannot be set, as far as this is known
// before a container exists. Docker has no field for it.
func canBurst() error {
	if os.Geteuid() != 0 {
		return errors.New("a CPU burst must be written to the container's control group, which needs root (Docker's API has no field for it); run as root, or leave burst out")
	}
	self, err := cgroup.Host().Self(cgroup.CPU)
	if err != nil {
		return err
	}
	place, ok := self.Place(cgroup.CPU).Get()
	if !ok {
		return nil // the container's own group will show it
	}
	quotaFile, burstFile := "cpu.max", burstFile(place.Version)
	if place.Version == cgroup.V1 {
		quotaFile = "cpu.cfs_quota_us"
	}
	if _, err := os.Stat(filepath.Join(place.Dir, quotaFile)); err != nil {
		return nil // the root of v2 has neither
	}
	if _, err := os.Stat(filepath.Join(place.Dir, burstFile)); errors.Is(err, fs.ErrNotExist) {
		return noBurst(place.Dir, burstFile)
	}
	return nil
}

// noBurst is the error for a kernel without bursts.
func noBurst(dir, file string) error {
	return fmt.Errorf("allow a CPU burst: this kernel has no %s (Linux 5.14 and newer have it); leave burst out", strings.TrimSuffix(dir, "/")+"/"+file)
}
