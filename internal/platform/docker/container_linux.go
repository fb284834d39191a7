package docker

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/moby/moby/api/types/container"
	networks "github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/ports"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// This file has what only containers of a compose file have: platform.Container.

// completionTimeout bounds the wait for a container that has to end by itself.
const completionTimeout = 10 * time.Minute

// startedGrace bounds the wait for a port of a container that only has to run.
const startedGrace = 30 * time.Second

// settings takes what a start waits for, and the health check, which may replace that of the
// image.
func (r *replica) settings(c *platform.Container) {
	if c == nil {
		return
	}
	r.until, r.attended = c.Until, c.Attended
	if len(c.Health) > 0 || c.NoHealth {
		r.image.Health, r.image.HealthTimeout = c.Health, c.HealthTimeout
	}
}

// extend adds the settings of a container to its configuration, and makes its volumes.
func (d *docker) extend(ctx context.Context, c *platform.Container, config *container.Config, host *container.HostConfig, at *networks.NetworkingConfig) error {
	if c == nil {
		return nil
	}
	if c.Entrypoint != nil {
		config.Entrypoint = c.Entrypoint
	}
	config.Hostname, config.OpenStdin = c.Hostname, c.OpenStdin || c.Attended
	config.AttachStdin, config.StdinOnce = c.Attended, c.Attended
	if c.StopSignal != "" {
		config.StopSignal = c.StopSignal
	}
	host.Init, host.Privileged, host.ReadonlyRootfs = c.Init, c.Privileged, c.ReadOnly
	host.CapAdd, host.CapDrop, host.GroupAdd, host.SecurityOpt = c.CapAdd, c.CapDrop, c.GroupAdd, c.SecurityOpt
	host.ExtraHosts, host.Tmpfs, host.Sysctls, host.ShmSize = c.ExtraHosts, c.Tmpfs, c.Sysctls, c.ShmSize
	for _, name := range slices.Sorted(maps.Keys(c.Ulimits)) {
		host.Ulimits = append(host.Ulimits, &container.Ulimit{Name: name, Soft: c.Ulimits[name][0], Hard: c.Ulimits[name][1]})
	}
	if at != nil {
		for _, endpoint := range at.EndpointsConfig {
			endpoint.Aliases = c.Names
		}
	}
	for _, text := range c.Volumes {
		v, err := experiment.SplitVolume(text)
		if err != nil {
			return err
		}
		v.Source = d.owner.volume(v.Source)
		if _, err := d.api.VolumeCreate(ctx, client.VolumeCreateOptions{Name: v.Source, Labels: d.owner.labels()}); err != nil {
			return fmt.Errorf("create the volume %s: %w", v.Source, err)
		}
		host.Binds = append(host.Binds, v.String())
	}
	return nil
}

// begun is the probe of an instance that only has to run. Of one that has to listen on a port
// that its image EXPOSEs it waits for that, for startedGrace at most: a database that is just
// started refuses connections.
func (r *replica) begun(l *instance) supervise.Probe {
	listens := func(a netip.AddrPort) bool { return slices.Contains(r.image.Ports, int(a.Port())) }
	return func(context.Context) (string, error) {
		if r.until == platform.Healthy || len(r.image.Ports) == 0 || time.Since(l.began) > startedGrace {
			return r.address, nil
		}
		found, err := ports.ListeningIn(l.pid, r.own)
		if err == nil && !slices.ContainsFunc(found, listens) {
			err = fmt.Errorf("it listens on port %d, and not on one that its image EXPOSEs", found[0].Port())
		}
		return r.address, err
	}
}

// completed waits until an instance has ended with exit status 0.
func (r *replica) completed(ctx context.Context, l *instance) error {
	ctx, cancel := supervise.WithTimeout(ctx, completionTimeout)
	defer cancel(nil)
	err := supervise.ErrDied
	select {
	case <-l.ended:
		if l.exit != nil && *l.exit == 0 {
			return nil
		}
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	return r.keeper.Log.Explain(ctx, err, func() string { return r.ended(l) }, func() string { return "" })
}
