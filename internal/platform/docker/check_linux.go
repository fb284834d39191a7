package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform/life"
	"github.com/millicore/millicore/internal/platform/local/group"
	"github.com/millicore/millicore/internal/platform/ports"
	"github.com/millicore/millicore/maxprocs/cgroup"
)

// leastMemory is the lowest limit that the daemon takes.
const leastMemory = 6 << 20

// Check reports what of the experiment cannot run here. It makes the run's
// network, since only a try tells whether the daemon can.
func (d *docker) Check(e *experiment.Experiment) error {
	var errs []error
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
			about(errors.New("profiles of containers are taken of the workload go alone: they lie where the process is; leave profile out, or use --on local"))
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
	if err := life.FirstOfEach(errs); err != nil || d.options.HostNetwork {
		return err
	}
	_, err := d.ownNetwork(context.Background())
	return err
}

// checkResize reports a limit that Docker cannot lift while a container runs.
func checkResize(cells []experiment.Cell) error {
	for i := range cells {
		for j := range cells {
			if a, b := &cells[i], &cells[j]; a.Limits.Memory != 0 && b.Limits.Memory == 0 && a.Resizable(b) {
				return fmt.Errorf("service %q: Docker cannot take its memory limit away while it runs; leave measure.resize out, or give every cell a memory limit", a.Service.Name)
			}
		}
	}
	return nil
}

func (d *docker) checkService(c *experiment.Cell) error {
	s := &c.Service
	switch {
	case c.Load.Benchmark:
		return errors.New("a benchmark that ends by itself runs with --on local alone")
	case s.Autoscale != nil:
		return errors.New("autoscale is Kubernetes' own: use --on kubernetes, or say limits.replicas")
	case s.Command != nil:
		return errors.New("a command runs on this machine, not in a container: give an image: that holds it, or use --on local")
	case s.FindPort:
		return errors.New("the port of a container is not looked for: say which it is (port: 8080), or use --on local")
	case !d.options.HostNetwork:
		return nil
	}
	if err := ports.Check(s.Port, false, c.Limits.Replicas); err != nil || s.Port == 0 {
		return err
	}
	return ports.Unused(s.Port)
}

func (d *docker) checkDependency(dep *experiment.Dependency) error {
	if dep.Command != nil {
		return errors.New("a command runs on this machine, not in a container: give an image: that holds it, or a url: of one that runs, or use --on local")
	}
	if dep.URL == "" || d.options.HostNetwork {
		return nil
	}
	if host, itself := life.Loopback(dep.URL); itself {
		return fmt.Errorf("%s is in each container the container itself: give the containers the machine's network (docker: {network: host} in the experiment file), or an address that is reached from outside this machine", host)
	}
	return nil
}

func (d *docker) checkLimits(l experiment.Limits) error {
	if err := group.CheckLimits(l); err != nil {
		return err
	}
	switch {
	case l.CPUMillis != 0 && !d.engine.cpuLimits:
		return errors.New("limit CPU: the Docker daemon has no CFS quota (docker info says why); leave the CPU limit out, or use --on local")
	case l.Memory != 0 && !d.engine.memoryLimit:
		return errors.New("limit memory: the Docker daemon has no memory controller (docker info says why; some kernels need cgroup_enable=memory); leave the memory limit out")
	case l.Memory != 0 && l.Memory < leastMemory:
		return fmt.Errorf("limit memory to %d bytes: Docker takes 6Mi and more", l.Memory)
	case l.BurstMillis != 0:
		return canBurst()
	}
	return nil
}

// canBurst reports why the burst of a container cannot be set, as far as it can
// be told before there is one. Docker has no field for it.
func canBurst() error {
	if os.Geteuid() != 0 {
		return errors.New("a CPU burst is written into the container's control group, since Docker's API has no field for it, and that takes root; run as root, or leave burst out")
	}
	self, err := cgroup.Host().Self(cgroup.CPU)
	if err != nil {
		return err
	}
	place, ok := self.Place(cgroup.CPU).Get()
	if !ok {
		return nil // the container's own tells
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

// noBurst is the refusal of a kernel that has no bursts.
func noBurst(dir, file string) error {
	return fmt.Errorf("allow a CPU burst: this kernel has no %s (Linux 5.14 and newer have it); leave burst out", strings.TrimSuffix(dir, "/")+"/"+file)
}
