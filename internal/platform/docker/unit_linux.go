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
	"time"

	"github.com/moby/moby/api/types/container"
	networks "github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/life"
	"github.com/millicore/millicore/internal/platform/ports"
)

// usualPort is where containers listen that have an address of their own, and
// whose image names no port.
const usualPort = 8080

// unit is a running unit.
type unit struct {
	docker   *docker
	replicas []*replica

	once sync.Once
	err  error // of the one stopping
}

// Replicas returns the replicas in the order of their numbers.
func (u *unit) Replicas() []platform.Replica { return life.Replicas(u.replicas) }

// Stop stops and removes all replicas. When ctx ends, those that are still
// there are killed at once.
func (u *unit) Stop(ctx context.Context) error {
	u.once.Do(func() {
		u.err = errors.Join(life.Each(len(u.replicas), func(i int) error { return u.replicas[i].end(ctx) })...)
		u.docker.drop(u)
	})
	return u.err
}

// startUnit starts all replicas, or none.
func (d *docker) startUnit(ctx context.Context, u platform.Unit) (*unit, error) {
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
	cancel() // no grace for what never served
	return nil, errors.Join(err, started.Stop(gone))
}

// startReplicas starts the replicas one after the other and then waits for all
// of them together.
func (d *docker) startReplicas(ctx context.Context, u platform.Unit, into *unit) error {
	lives := make([]*oneLife, max(u.Limits.Replicas, 1))
	for i := range lives {
		r, err := d.prepare(ctx, u, i)
		if r != nil {
			into.replicas = append(into.replicas, r)
		}
		if err == nil {
			lives[i], err = r.launch(ctx)
		}
		if err != nil {
			return fmt.Errorf("replica %d: %w", i, err)
		}
	}
	ctx, cancel := life.Within(ctx, cmp.Or(u.Ready.Timeout, life.ReadyTimeout)) // of the service, not of Docker
	defer cancel(nil)
	err := life.Together(len(lives), cancel, func(i int) error {
		r, l := into.replicas[i], lives[i]
		err := r.awaitReady(ctx, l)
		if err == nil {
			err = life.Lasts(l.ended)
		}
		if err != nil {
			return r.explain(ctx, l, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, r := range into.replicas {
		r.standing.SetUp(true)
		r.kept = make(chan struct{})
		go r.keep(lives[i])
	}
	return nil
}

// prepare makes a replica's container, which does not run yet. On an error what
// was made so far is in the replica, if there is one.
func (d *docker) prepare(ctx context.Context, u platform.Unit, index int) (*replica, error) {
	r := &replica{docker: d, limits: u.Limits, ready: u.Ready, serves: u.Serves, backoff: life.Backoff{First: d.options.RestartAfter}}
	r.stopped, r.over = context.WithCancel(context.Background())
	r.stopping, r.stop = context.WithCancel(r.stopped)
	name := life.Name(u.Trial, u.Name, index)
	host, port, attachment, err := d.place(ctx, u, r)
	if err != nil {
		return r, err
	}
	vars := map[string]string{}
	maps.Copy(vars, u.Vars)
	vars["host"], vars["port"] = host, strconv.Itoa(port)
	config, err := d.config(u, vars)
	if err != nil {
		return r, err
	}
	if r.log, err = life.OpenLog(u.Logs, name+".log"); err != nil {
		return r, err
	}
	r.name = d.name(name)
	// To its end, also where ctx ends before: what Docker makes all the same is
	// then known, and removed.
	creating, cancel := context.WithTimeout(context.WithoutCancel(ctx), brief)
	defer cancel()
	made, err := d.api.ContainerCreate(creating, client.ContainerCreateOptions{Name: r.name, Config: config, NetworkingConfig: attachment,
		HostConfig: &container.HostConfig{
			NetworkMode: d.networkMode(),
			LogConfig:   container.LogConfig{Type: "none"}, // it is read from the container, into the record
			Resources:   resources(u.Limits),
		}})
	if err != nil {
		return r, fmt.Errorf("create a container of %s: %w", u.Image, err)
	}
	r.id = made.ID
	for _, warning := range made.Warnings {
		d.warn("docker: " + warning)
	}
	return r, nil
}

// place gives a replica its address: a free port of loopback on the machine's
// network, or an address in the run's own. host is where it is to listen.
func (d *docker) place(ctx context.Context, u platform.Unit, r *replica) (host string, port int, _ *networks.NetworkingConfig, err error) {
	if d.options.HostNetwork {
		const loopback = "127.0.0.1"
		if port, err = d.hostPort(u); err != nil {
			return "", 0, nil, err
		}
		r.port = port
		r.address = netip.AddrPortFrom(netip.MustParseAddr(loopback), uint16(port)).String()
		return loopback, port, nil, nil
	}
	if port = u.Port; port == 0 {
		if port, err = d.exposed(ctx, u.Image); err != nil {
			return "", 0, nil, fmt.Errorf("look at the image %s: %w", u.Image, err)
		}
		port = cmp.Or(port, usualPort)
	}
	address, own, err := d.take(context.WithoutCancel(ctx))
	if err != nil {
		return "", 0, nil, err
	}
	r.own = address
	r.address = netip.AddrPortFrom(address, uint16(port)).String()
	return "0.0.0.0", port, &networks.NetworkingConfig{EndpointsConfig: map[string]*networks.EndpointSettings{
		own.name: {IPAMConfig: &networks.EndpointIPAMConfig{IPv4Address: address}},
	}}, nil
}

// hostPort takes the port that a unit insists on, or a free one.
func (d *docker) hostPort(u platform.Unit) (int, error) {
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
	return container.NetworkMode("millicore-" + d.owner.run)
}

// config is what runs in a container. Of this machine's environment nothing is
// in it.
func (d *docker) config(u platform.Unit, vars map[string]string) (*container.Config, error) {
	arguments, err := life.Words(u.Command, vars)
	if err != nil {
		return nil, err
	}
	stated, err := life.Env(u.Env, vars)
	if err != nil {
		return nil, err
	}
	c := &container.Config{Image: u.Image, Cmd: arguments, WorkingDir: u.Dir, Labels: d.owner.labels(), AttachStdout: true, AttachStderr: true,
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}}} // the image's would run under the limits
	if u.StopSignal != 0 {
		c.StopSignal = unix.SignalName(u.StopSignal)
	}
	c.Env = environment(vars["port"], stated, u.Unset)
	return c, nil
}

// environment is what is told to a container beside its image's own. A name
// alone takes a variable of the image away.
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

// resources are the limits that Docker has fields for. Swap is forbidden, as the
// kubelet does: a service that swapped would be slow where a container is killed.
func resources(l experiment.Limits) container.Resources {
	r := container.Resources{Memory: l.Memory, MemorySwap: l.Memory, CpusetCpus: l.CPUSet}
	if l.CPUMillis > 0 {
		period := periodOf(l)
		r.CPUPeriod = period.Microseconds()
		r.CPUQuota = (time.Duration(l.CPUMillis) * period / 1000).Microseconds()
	}
	return r
}

// periodOf is the period of CFS; the kernel's own where none is stated.
func periodOf(l experiment.Limits) time.Duration {
	return cmp.Or(l.Period, 100*time.Millisecond)
}

// explain adds to an error of awaitReady how it came and the end of the log.
func (r *replica) explain(ctx context.Context, l *oneLife, err error) error {
	return r.log.Explain(ctx, err, func() string { return strings.TrimPrefix(r.obituary(l), "it ") }, func() string { return "; " + r.whereTo() })
}

// whereTo says where a replica is to listen.
func (r *replica) whereTo() string {
	if r.docker.options.HostNetwork {
		return fmt.Sprintf("it is to listen at %s, which ${port} and $PORT tell it; where it takes neither, state its own port (port: in the experiment file)", r.address)
	}
	return fmt.Sprintf("it is to listen at %s, on all addresses and not on loopback alone; where it has another port, and takes neither ${port} nor $PORT, state it (port: in the experiment file)", r.address)
}
