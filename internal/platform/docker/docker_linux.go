package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/moby/moby/client"

	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/local"
	"github.com/millicore/millicore/internal/platform/ports"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// docker is the platform.
type docker struct {
	options Options
	here    platform.Platform // provides agents and folders
	api     *client.Client
	engine  engine
	owner   owner
	ports   ports.Set // of containers with the machine's network

	mu      sync.Mutex
	units   map[*unit]struct{} // started and not yet stopped
	network *network           // the run's own; nil until it is needed
	made    map[string]string  // image by sample service, made for the run
	names   int                // containers so far: names are never reused
	warned  map[string]bool
	closed  bool
}

// callTimeout bounds a short request to the daemon.
const callTimeout = 30 * time.Second

// New returns the platform of the daemon of DOCKER_HOST, after it removed what dead
// runs left there. It fails if there is no daemon, if it refuses the caller, or if it
// is on another machine.
//
// It may replace this process, as local.New may: call it before anything is started,
// written, or read from standard input.
func New(o Options) (platform.Platform, error) {
	agents := local.Options{State: o.State, AgentsOnly: true, DryRun: o.DryRun}
	if o.Programs != "" {
		agents.Agent = filepath.Join(o.Programs, "millicore-agent")
	}
	o = o.filled()
	agents.Note = o.Note
	here, err := local.New(agents)
	if err != nil {
		return nil, fmt.Errorf("prepare this machine for agents: %w", err)
	}
	d := &docker{options: o, here: here, owner: newOwner(), units: map[*unit]struct{}{}, made: map[string]string{}, warned: map[string]bool{}}
	if d.api, d.engine, err = connect(); err != nil {
		return nil, errors.Join(err, here.Close())
	}
	if o.DryRun {
		return d, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	if cleaned, err := sweepDead(ctx, d.api); err != nil {
		o.Note(err.Error())
	} else if n := len(cleaned.Removed); n > 0 {
		o.Note(fmt.Sprintf("removed %d containers, networks, volumes and images that a killed run left", n))
	}
	return d, nil
}

func (o Options) filled() Options {
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.RestartAfter == 0 {
		o.RestartAfter = supervise.RestartAfter
	}
	if o.Programs == "" {
		if self, err := os.Executable(); err == nil {
			o.Programs = filepath.Dir(self)
		}
	}
	return o
}

// Name is the platform's name in --on.
func (*docker) Name() string { return "docker" }

// Versions are those of the daemon.
func (d *docker) Versions() map[string]string {
	return map[string]string{"docker": d.engine.version}
}

// Start starts all replicas of a unit and returns when they are ready. The context
// bounds the start only.
func (d *docker) Start(ctx context.Context, u platform.UnitSpec) (platform.Unit, error) {
	started, err := d.startUnit(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", u.Name, err)
	}
	return started, nil
}

// Agent starts an agent on this machine.
func (d *docker) Agent(ctx context.Context, trial, index int) (platform.Agent, error) {
	return d.here.Agent(ctx, trial, index)
}

// Folder makes a folder on this machine.
func (d *docker) Folder(dir string, user *platform.User) (platform.Folder, error) {
	return d.here.Folder(dir, user)
}

// Close stops and removes everything that is left: containers, the run's network and
// the images that were made for it.
func (d *docker) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	if d.options.DryRun {
		d.mu.Unlock()
		return errors.Join(d.here.Close(), d.api.Close())
	}
	var left []*unit
	for u := range d.units {
		left = append(left, u)
	}
	d.mu.Unlock()
	errs := supervise.Each(len(left), func(i int) error { return left[i].Stop(context.Background()) })
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	// By labels and names, which includes objects whose creation was cancelled.
	errs = append(errs, new(Cleaned).sweep(ctx, d.api, func(o owner) bool { return o.run == d.owner.run }))
	return errors.Join(append(errs, d.here.Close(), d.api.Close())...)
}

// add registers a unit, so that Close ends it.
func (d *docker) add(u *unit) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return errors.New("the platform is closed")
	}
	d.units[u] = struct{}{}
	return nil
}

func (d *docker) drop(u *unit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.units, u)
}

// name returns the name for a new container.
func (d *docker) name(replica string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.names++
	return fmt.Sprintf("%s%s-%d", d.owner.containers(), replica, d.names)
}

// warn notes something once.
func (d *docker) warn(text string) {
	d.mu.Lock()
	before := d.warned[text]
	d.warned[text] = true
	d.mu.Unlock()
	if !before {
		d.options.Note(text)
	}
}
