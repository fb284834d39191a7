package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/moby/moby/api/types/container"
	networks "github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/internal/platform/ports"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// usualPort is the port of containers with their own address whose image exposes no
// port.
const usualPort = 8080

// unit is a running unit.
type unit struct {
	docker   *docker
	replicas []*replica

	once sync.Once
	err  error // of the one stopping
}

// Replicas returns the replicas in the order of their numbers.
func (u *unit) Replicas() []platform.Replica { return supervise.Replicas(u.replicas) }

// Stop stops and removes all replicas. When ctx ends, the remaining ones are killed.
func (u *unit) Stop(ctx context.Context) error {
	u.once.Do(func() {
		u.err = errors.Join(supervise.Each(len(u.replicas), func(i int) error { return u.replicas[i].end(ctx) })...)
		u.docker.drop(u)
	})
	return u.err
}

// startUnit starts all replicas, or none.
func (d *docker) startUnit(ctx context.Context, u platform.UnitSpec) (*unit, error) {
	switch {
	case u.Image == "":
		return nil, errors.New("no image: commands run with --on local")
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	started := &unit{docker: d}
	err := d.startReplicas(ctx, u, started)
	if err == nil {
		err = d.add(started)
	}
	if err == nil {
		return started, nil
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel() // no grace time for a unit that never served
	return nil, errors.Join(err, started.Stop(gone))
}

// startReplicas starts the replicas one after the other and then waits for all of them.
func (d *docker) startReplicas(ctx context.Context, u platform.UnitSpec, into *unit) error {
	var keepers []*supervise.Keeper[*instance]
	var started []*instance
	for i := range max(u.Limits.Replicas, 1) {
		r, err := d.prepare(ctx, u, i)
		if r != nil {
			into.replicas = append(into.replicas, r)
		}
		var l *instance
		if err == nil {
			l, err = r.launch(ctx)
		}
		if err != nil {
			return fmt.Errorf("replica %d: %w", i, err)
		}
		if u.Container != nil && u.Container.Until == platform.Completed {
			return r.completed(ctx, l)
		}
		keepers, started = append(keepers, &r.keeper), append(started, l)
	}
	return supervise.KeepAll(ctx, u.Ready.Timeout, keepers, started)
}

// prepare creates a replica's container, which does not run yet. After an error the
// replica has what was created so far.
func (d *docker) prepare(ctx context.Context, u platform.UnitSpec, index int) (*replica, error) {
	r := &replica{docker: d, limits: u.Limits, ready: u.Ready, serves: u.Serves}
	r.stopped, r.over = context.WithCancel(context.Background())
	r.keeper = supervise.Keeper[*instance]{Backoff: supervise.Backoff{First: d.options.RestartAfter},
		Launch: r.launch, Ready: r.awaitReady, Clean: r.clean, Ending: r.ending, Where: r.whereTo}
	r.keeper.Begin(r.stopped)
	var err error
	if r.image, err = d.Describe(ctx, u.Image); err != nil {
		return r, err
	}
	r.settings(u.Container)
	name := supervise.ReplicaName(u.Trial, u.Name, index)
	address, port, attachment, err := d.place(ctx, u, r)
	if err != nil {
		return r, err
	}
	vars := map[string]string{}
	maps.Copy(vars, u.Vars)
	vars["host"], vars["port"] = address, strconv.Itoa(port)
	config, err := d.config(u, vars)
	if err != nil {
		return r, err
	}
	binds, anonymous, err := mounts(u.Volumes)
	if err != nil {
		return r, err
	}
	config.Volumes = anonymous
	host := &container.HostConfig{
		NetworkMode: d.networkMode(),
		Binds:       binds,
		LogConfig:   container.LogConfig{Type: "none"}, // the output is read from the container, into the record
		Resources:   d.engine.resources(u.Limits),
	}
	if err := d.extend(ctx, u.Container, config, host, attachment); err != nil {
		return r, err
	}
	if r.keeper.Log, err = supervise.OpenLog(u.Logs, name+".log"); err != nil {
		return r, err
	}
	r.keeper.Log.Removed = u.LogsRemoved
	r.keeper.Log.Bound()
	r.name = d.name(name)
	// The request is not cancelled with ctx: a container that Docker created must be
	// known, so that it is removed.
	creating, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	made, err := d.api.ContainerCreate(creating, client.ContainerCreateOptions{Name: r.name, Config: config, NetworkingConfig: attachment, HostConfig: host})
	if err != nil {
		return r, fmt.Errorf("create a container of %s: %w", u.Image, err)
	}
	r.id = made.ID
	for _, warning := range made.Warnings {
		d.warn("docker: " + warning)
	}
	return r, nil
}

// place reserves a replica's address: a free port of loopback on the machine's network,
// or an address in the run's own network. host is the address on which it must listen. The
// replica has no address yet if its port must be found.
func (d *docker) place(ctx context.Context, u platform.UnitSpec, r *replica) (host string, port int, _ *networks.NetworkingConfig, err error) {
	if d.options.HostNetwork {
		const loopback = "127.0.0.1"
		if port, err = d.hostPort(u); err != nil {
			return "", 0, nil, err
		}
		r.port = port
		if u.FindPort {
			return loopback, port, nil, nil
		}
		r.address = netip.AddrPortFrom(netip.MustParseAddr(loopback), uint16(port)).String()
		return loopback, port, nil, nil
	}
	port = cmp.Or(u.Port, portOf(&r.image))
	address, own, err := d.take(context.WithoutCancel(ctx))
	if err != nil {
		return "", 0, nil, err
	}
	r.own = address
	if u.Port != 0 || !u.FindPort && takesPort(&u) || r.until != platform.Serves {
		r.address = netip.AddrPortFrom(address, uint16(port)).String()
	}
	return "0.0.0.0", port, &networks.NetworkingConfig{EndpointsConfig: map[string]*networks.EndpointSettings{
		own.name: {IPAMConfig: &networks.EndpointIPAMConfig{IPv4Address: address}},
	}}, nil
}

// takesPort reports whether the arguments or the variables of a unit name its port.
func takesPort(u *platform.UnitSpec) bool {
	named := func(text string) bool { return strings.Contains(text, "${port}") }
	return slices.ContainsFunc(u.Command, named) || slices.ContainsFunc(slices.Collect(maps.Values(u.Env)), named)
}

// hostPort reserves the fixed port of a unit, or a free one.
func (d *docker) hostPort(u platform.UnitSpec) (int, error) {
	if err := ports.Check(u.Port, u.FindPort, u.Limits.Replicas); err != nil {
		return 0, err
	}
	if u.Port == 0 {
		return d.ports.Take()
	}
	return u.Port, d.ports.Claim(u.Port)
}

func (d *docker) networkMode() container.NetworkMode {
	if d.options.HostNetwork {
		return "host"
	}
	return container.NetworkMode(d.owner.network())
}

// config is the configuration of a container. It has no variables of this machine's
// environment.
func (d *docker) config(u platform.UnitSpec, vars map[string]string) (*container.Config, error) {
	arguments, err := supervise.ExpandCommand(u.Command, vars)
	if err != nil {
		return nil, err
	}
	stated, err := supervise.ExpandEnv(u.Env, vars)
	if err != nil {
		return nil, err
	}
	c := &container.Config{Image: u.Image, Cmd: arguments, WorkingDir: u.Dir, User: u.RunAs, Labels: d.owner.labels(), AttachStdout: true, AttachStderr: true,
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}}} // the image's health check would run under the limits
	if u.StopSignal != 0 {
		c.StopSignal = unix.SignalName(u.StopSignal)
	}
	c.Env = environment(vars["port"], stated, u.Unset)
	return c, nil
}

// environment returns the variables of a container beside those of its image. A name
// without a value removes a variable of the image.
func environment(port string, stated map[string]string, unset []string) []string {
	all := map[string]string{"PORT": "=" + port}
	for name, value := range stated {
		all[name] = "=" + value
	}
	for _, name := range unset {
		all[name] = ""
	}
	var env []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		env = append(env, name+all[name])
	}
	return env
}

// resources are the limits for which Docker has fields. Swap is forbidden, as in
// Kubernetes: a service that swaps would be slow instead of being killed.
func (e engine) resources(l experiment.Limits) container.Resources {
	r := container.Resources{Memory: l.Memory, MemorySwap: l.Memory, CpusetCpus: l.CPUSet}
	if l.CPUMillis > 0 {
		b := meter.BandwidthOf(l)
		r.CPUPeriod, r.CPUQuota = b.Period.Microseconds(), b.Quota.Microseconds()
	}
	if l.RequestMillis > 0 {
		r.CPUShares = cgroup.Shares(l.RequestMillis)
	}
	if e.pidsLimit || l.PIDs != 0 { // a daemon without it warns of each container
		pids := int64(cmp.Or(l.PIDs, experiment.DefaultPIDs))
		r.PidsLimit = &pids
	}
	return r
}
