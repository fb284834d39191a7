package objects

import (
	"errors"
	"fmt"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// Suits reports what of an experiment cannot run on any Kubernetes cluster. It
// sends no requests.
func Suits(e *experiment.Experiment) error {
	var errs []error
	for i := range e.Cells {
		c := &e.Cells[i]
		if err := errors.Join(suitsService(c), suitsLimits(c.Limits)); err != nil {
			errs = append(errs, fmt.Errorf("service %q: %w", c.Service.Name, err))
		}
		for j := range c.Service.Dependencies {
			d := &c.Service.Dependencies[j]
			if err := errors.Join(suitsDependency(d), suitsLimits(d.Limits)); err != nil {
				errs = append(errs, fmt.Errorf("dependency %q: %w", d.Name, err))
			}
		}
	}
	if e.Profile {
		errs = append(errs, errors.New("profiles need a process on this machine; leave profile out, or use --on local"))
	}
	if e.Measure.Resize {
		errs = append(errs, suitsResize(e.Cells))
	}
	return supervise.JoinDistinct(errs)
}

// ErrFindPort refuses a port that the platform would have to look for.
var ErrFindPort = errors.New("the port of a pod cannot be detected: state it (port: 8080), or use --on local")

func suitsService(c *experiment.Cell) error {
	switch s := &c.Service; {
	case c.Load.Benchmark:
		return errors.New("a benchmark that ends by itself runs with --on local only")
	case len(s.Compose) > 0:
		return errors.New("a service of a compose file runs with --on docker only")
	case s.Command != nil:
		return errors.New("a command cannot run in a pod: set image: to one that contains it, or use --on local")
	case !podUser(s.User):
		return errUser(s.User)
	case len(s.Volumes) > 0:
		return errors.New("volumes are folders of this machine; leave volumes out, or use --on docker")
	case s.FindPort:
		return ErrFindPort
	case s.Workload != "" && s.Workload != "go" && built[s.Workload] == "":
		return ErrNoImage(s.Workload)
	}
	return nil
}

func suitsDependency(d *experiment.Dependency) error {
	if d.Command != nil {
		return errors.New("a command cannot run in a pod: set image: to one that contains it, or url: to a server that already runs, or use --on local")
	}
	if d.Builtin == experiment.Neighbour {
		return errors.New("Kubernetes would not run it on the node of the service: leave it out, or use --on local or docker")
	}
	if !podUser(d.User) {
		return errUser(d.User)
	}
	if host, itself := supervise.Loopback(d.URL); itself {
		return fmt.Errorf("%s means the pod itself: use an address that the cluster can reach", host)
	}
	return nil
}

func suitsLimits(l experiment.Limits) error {
	switch {
	case l.BurstMillis != 0:
		return errors.New("Kubernetes has no field for a CPU burst; leave burst out, or use --on local or docker")
	case l.PIDs != 0:
		return errors.New("Kubernetes has no field for the processes of a pod (the kubelet has one for all of its pods: podPidsLimit); leave pids out, or use --on local or docker")
	case l.CPUSet != "":
		return errors.New("Kubernetes has no field for the CPUs of a pod; leave cpuset out, or use --on local or docker")
	case l.CPUMillis != 0 && l.Period != 0 && l.Period != signals.DefaultPeriod:
		return fmt.Errorf("the kubelet sets the CFS period of pods, usually to %v and not to %v; leave period out, or use --on local or docker", signals.DefaultPeriod, l.Period)
	}
	return nil
}

// Minor versions of Kubernetes 1 from which limits of running pods can be changed, and
// from which their memory limit can become smaller. Before, the API server refuses that:
// "memory limits cannot be decreased unless resizePolicy is RestartContainer". A restart
// would measure another service than before, one without its caches.
const (
	resizesFrom = 33
	shrinksFrom = 34
)

// SuitsVersion reports what of measure.resize a version of Kubernetes does not support.
// It reports nothing if the version is not known.
func SuitsVersion(e *experiment.Experiment, v kube.Version) error {
	switch {
	case !e.Measure.Resize || v.Minor == 0:
	case v.Minor < resizesFrom:
		return fmt.Errorf("Kubernetes 1.%d and newer have it, this is %s; leave measure.resize out", resizesFrom, v.Name)
	case v.Minor < shrinksFrom && shrinks(e.Cells):
		return fmt.Errorf("Kubernetes 1.%d and newer can reduce the memory limit of a running pod, this is %s; give all cells the same limits.memory, or leave measure.resize out", shrinksFrom, v.Name)
	}
	return nil
}

// shrinks reports whether a trial may follow one of the same service with more memory.
// The order of trials is random, so that different limits suffice.
func shrinks(cells []experiment.Cell) bool {
	for i := range cells {
		for j := range cells[:i] {
			if a, b := &cells[i], &cells[j]; a.Limits.Memory != b.Limits.Memory && a.Resizable(b) {
				return true
			}
		}
	}
	return false
}

// suitsResize reports limits that cannot be changed in place.
func suitsResize(cells []experiment.Cell) error {
	for i := range cells {
		for j := range cells[:i] {
			a, b := &cells[i], &cells[j]
			if a.Limits == b.Limits || !a.Resizable(b) {
				continue
			}
			if a.Service.Autoscale != nil {
				return fmt.Errorf("service %q: an autoscaled service cannot be resized; leave out measure.resize or autoscale", a.Service.Name)
			}
			if err := Resizable(a.Limits, b.Limits); err != nil {
				return fmt.Errorf("service %q: %w", a.Service.Name, err)
			}
		}
	}
	return nil
}

// Resizable reports which limits of a pod cannot be changed in place.
func Resizable(before, after experiment.Limits) error {
	switch {
	case (before.CPUMillis == 0) != (after.CPUMillis == 0):
		return errors.New("Kubernetes cannot add or remove the CPU limit of a running pod: set one in every cell, or leave measure.resize out")
	case (before.Memory == 0) != (after.Memory == 0):
		return errors.New("Kubernetes cannot add or remove the memory limit of a running pod: set one in every cell, or leave measure.resize out")
	}
	return nil
}
