package docker

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"

	"github.com/millicore/millicore/internal/host/commandline"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/ports"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// This file waits until a container serves: its port is found, accepts connections or
// answers, and the image's own HEALTHCHECK succeeds.

const (
	// healthEvery is the wait between two health checks, which use the CPU quota.
	healthEvery = 500 * time.Millisecond
	// healthTimeout is Docker's default of HEALTHCHECK --timeout.
	healthTimeout = 30 * time.Second
	// exposeGrace is how long a container may listen on other ports before it listens on one
	// that its image EXPOSEs. A wrong EXPOSE is no reason to give up.
	exposeGrace = 2 * time.Second
)

// awaitReady waits until the container serves. See supervise.Keeper.UntilServing.
func (r *replica) awaitReady(ctx context.Context, l *instance) error {
	every, look := r.looking(l)
	checked := r.ready.Path == "" && r.serves == nil && len(r.image.Health) > 0
	if r.until != platform.Serves {
		checked = r.until == platform.Healthy
		every, look = healthEvery, r.begun(l)
	}
	return r.keeper.UntilServing(ctx, l, &r.address, func(ctx context.Context) (string, error) {
		address, err := supervise.AwaitProbe(ctx, every, look)
		if err == nil && checked {
			_, err = supervise.AwaitProbe(ctx, healthEvery, func(ctx context.Context) (string, error) { return address, r.healthy(ctx) })
		}
		return address, err
	})
}

// looking returns the probe of an instance until it serves.
func (r *replica) looking(l *instance) (every time.Duration, _ supervise.Probe) {
	switch {
	case r.address != "" && r.serves != nil:
		return supervise.ProbeWith(r.serves, r.address)
	case r.address != "":
		return supervise.ProbeFor(r.ready, r.address)
	case !r.own.IsValid(): // on the machine's network
		return supervise.FindPort(r.ready, func() ([]netip.AddrPort, error) { return ports.Listening(r.PIDs()) })
	}
	e := exposed{ports: r.image.Ports}
	every, find := supervise.FindPort(r.ready, func() ([]netip.AddrPort, error) {
		found, err := ports.ListeningIn(l.pid, r.own)
		if err != nil {
			return nil, err
		}
		return e.among(found, time.Now())
	})
	return every, func(ctx context.Context) (string, error) {
		if only := e.only(); only != "" && r.ready.Path == "" { // it needs not speak HTTP/1.1: a database
			return only, supervise.Accepts(ctx, only)
		}
		return find(ctx)
	}
}

// exposed chooses the ports of a container that its image EXPOSEs.
type exposed struct {
	ports []int
	since time.Time // when another port was first seen
	last  []netip.AddrPort
}

// among are those of the addresses where a container listens that its image EXPOSEs; if
// there is none, after exposeGrace, all.
func (e *exposed) among(found []netip.AddrPort, now time.Time) ([]netip.AddrPort, error) {
	e.last = slices.DeleteFunc(slices.Clone(found), func(a netip.AddrPort) bool { return !slices.Contains(e.ports, int(a.Port())) })
	switch {
	case len(e.last) > 0:
		return e.last, nil
	case len(e.ports) == 0:
		return found, nil
	case e.since.IsZero():
		e.since = now
	}
	if now.Sub(e.since) < exposeGrace {
		return nil, fmt.Errorf("it listens on port %d, and not on port %d, which its image EXPOSEs", found[0].Port(), e.ports[0])
	}
	return found, nil
}

// only is the one EXPOSEd port on which the container listens; "" if there is none, or several.
func (e *exposed) only() string {
	if len(e.last) != 1 {
		return ""
	}
	return e.last[0].String()
}

// healthy runs the health check of the image once, in the container.
func (r *replica) healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(r.image.HealthTimeout, healthTimeout))
	defer cancel()
	failed := func(err error) error {
		if r.until == platform.Healthy {
			return fmt.Errorf("its health check fails: %s: %w", commandline.Quoted(r.image.Health), err)
		}
		return fmt.Errorf("its HEALTHCHECK fails: %s: %w; name a path that answers 200 once it is ready (ready: in the experiment file, --ready of try), which replaces it", commandline.Quoted(r.image.Health), err)
	}
	api := r.docker.api
	made, err := api.ExecCreate(ctx, r.id, client.ExecCreateOptions{Cmd: r.image.Health, AttachStdout: true, AttachStderr: true})
	if err != nil {
		return failed(err)
	}
	out, err := api.ExecAttach(ctx, made.ID, client.ExecAttachOptions{})
	if err != nil {
		return failed(err)
	}
	defer out.Close()
	stop := context.AfterFunc(ctx, out.Close)
	defer stop()
	var said bytes.Buffer
	_, err = stdcopy.StdCopy(&bounded{&said}, &bounded{&said}, out.Reader)
	if ctx.Err() != nil {
		return failed(fmt.Errorf("it did not end within %v", cmp.Or(r.image.HealthTimeout, healthTimeout)))
	}
	if err != nil {
		return failed(err)
	}
	ended, err := api.ExecInspect(ctx, made.ID, client.ExecInspectOptions{})
	switch {
	case err != nil:
		return failed(err)
	case ended.ExitCode != 0:
		return failed(fmt.Errorf("exit status %d (%q)", ended.ExitCode, strings.TrimSpace(said.String())))
	}
	return nil
}

// bounded keeps the beginning of what is written.
type bounded struct{ into *bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	const most = 200
	b.into.Write(p[:min(len(p), max(0, most-b.into.Len()))])
	return len(p), nil
}

// whereTo describes where a replica must listen, after "; ".
func (r *replica) whereTo() string {
	switch {
	case r.until != platform.Serves:
		return ""
	case r.address == "":
		return "; state its port (port: in the experiment file, --port of try) if it has one that cannot be found"
	case r.docker.options.HostNetwork:
		return fmt.Sprintf("; it must listen at %s: use ${port} or $PORT, or state its own port (port: in the experiment file, --port of try)", r.address)
	}
	return fmt.Sprintf("; it must listen at %s, on all addresses and not only on loopback: use ${port} or $PORT, or state its own port (port: in the experiment file, --port of try)", r.address)
}
