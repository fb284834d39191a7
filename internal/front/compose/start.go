package compose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/attached"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// Fetch makes all images available, before anything is started.
func (p *Project) Fetch(ctx context.Context, on platform.Platform) error {
	fetcher, ok := platform.As[platform.ImageRunner](on)
	describer, describes := platform.As[platform.ImageDescriber](on)
	if !ok || !describes {
		return errors.New("a compose file needs Docker")
	}
	for _, s := range p.all() {
		info, err := describer.Describe(ctx, s.Image)
		if err != nil && s.Built {
			return fmt.Errorf("services.%s.build: Docker has no image %s; build it first: docker compose%s build %s", s.Name, s.Image, p.flags(), s.Name)
		}
		if err != nil {
			if _, err := fetcher.Fetch(ctx, s.Image); err != nil {
				return fmt.Errorf("services.%s.image: %w", s.Name, err)
			}
			if info, err = describer.Describe(ctx, s.Image); err != nil {
				return err
			}
		}
		if c := &s.Settings; c.Until == platform.Healthy && len(c.Health) == 0 && (c.NoHealth || len(info.Health) == 0) {
			return fmt.Errorf("services.%s.healthcheck: another service waits until it is healthy, but neither the file nor the image %s has a health check: add one, or use service_started", s.Name, s.Image)
		}
	}
	return nil
}

// flags are the files, as docker compose takes them.
func (p *Project) flags() string {
	text := ""
	for _, file := range p.Files {
		text += " -f " + file
	}
	return text
}

func (p *Project) all() []*Service {
	var all []*Service
	for i := range p.Needs {
		all = append(all, &p.Needs[i])
	}
	return append(all, &p.Service)
}

// leastTimeout is how long a service with a health check may take to be healthy at least.
const leastTimeout = time.Minute

// Patience is how long the service may take to be ready.
func (s *Service) Patience() time.Duration { return max(leastTimeout, s.Timeout) }

// Beside starts the dependencies, which run until the platform is closed, and returns a
// platform that gives them to whoever starts a dependency of such a name. Every other unit
// that it starts is the measured service. note takes sentences.
func (p *Project) Beside(ctx context.Context, on platform.Platform, note func(string)) (platform.Platform, error) {
	return p.start(ctx, on, note, nil)
}

func (p *Project) start(ctx context.Context, on platform.Platform, note func(string), only []string) (platform.Platform, error) {
	for _, text := range p.Notes {
		note(text)
	}
	folder, err := attached.NewFolder()
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Remove() }() // the open files of their logs stay
	b := &beside{Platform: on, project: p, only: only, running: map[string]platform.Unit{}}
	for i := range p.Needs {
		s := &p.Needs[i]
		began := time.Now()
		u := platform.UnitSpec{Name: s.Unit, Image: s.Image, Command: escaped(s.Args), Env: map[string]string{}, Logs: folder.Path, LogsRemoved: true,
			Ready: experiment.Ready{Timeout: s.Patience()}}
		for name, value := range s.Env {
			u.Env[name] = experiment.Escape(value)
		}
		if _, set := s.Env["PORT"]; !set {
			u.Unset = []string{"PORT"}
		}
		if len(s.Ports) == 1 {
			u.Port = s.Ports[0]
		}
		s.extend(&u)
		unit, err := on.Start(ctx, u)
		if err != nil {
			hint := ""
			if s.Settings.Until == platform.Started && errors.Is(err, supervise.ErrDied) {
				hint = "\nIf it ends by itself, depend on it with condition: service_completed_successfully"
			}
			return nil, fmt.Errorf("start the dependency %s: %s%s", s.Name, strings.TrimPrefix(err.Error(), fmt.Sprintf("start %q: replica 0: ", s.Unit)), hint)
		}
		note(fmt.Sprintf("%s %s after %.1f s.", s.Name, words[s.Settings.Until], time.Since(began).Seconds()))
		if s.Settings.Until != platform.Completed {
			b.running[s.Unit] = unit
		}
	}
	return b, nil
}

// words are what was waited for.
var words = map[platform.Condition]string{platform.Started: "was started", platform.Healthy: "was healthy", platform.Completed: "completed"}

// extend adds to a unit what only services of compose files have.
func (s *Service) extend(u *platform.UnitSpec) {
	settings := s.Settings
	u.Container, u.Dir, u.RunAs = &settings, cmp.Or(u.Dir, s.Dir), cmp.Or(u.RunAs, s.User)
	u.Volumes = slices.Concat(u.Volumes, s.Volumes)
}

// Running are the dependencies that keep running, in the order of their start.
func (p *Project) Running() (all []Service) {
	for _, s := range p.Needs {
		if s.Settings.Until != platform.Completed {
			all = append(all, s)
		}
	}
	return all
}

func escaped(all []string) []string {
	texts := slices.Clone(all)
	for i := range texts {
		texts[i] = experiment.Escape(texts[i])
	}
	return texts
}

// beside is a platform whose dependencies run already.
type beside struct {
	platform.Platform
	project *Project
	only    []string // the services that are of the compose file; nil: all
	running map[string]platform.Unit
}

// Unwrap returns the platform that is wrapped.
func (b *beside) Unwrap() platform.Platform { return b.Platform }

func (b *beside) Start(ctx context.Context, u platform.UnitSpec) (platform.Unit, error) {
	if unit, ok := b.running[u.Name]; ok {
		return &Kept{unit}, nil
	}
	// A neighbour in the image of the service has settings of its own.
	if u.Container == nil && (b.only == nil || slices.Contains(b.only, u.Name)) {
		b.project.Service.extend(&u)
	}
	return b.Platform.Start(ctx, u)
}

// Kept is a dependency, which outlives the trial.
type Kept struct{ platform.Unit }

// Unwrap returns the unit that is wrapped.
func (k *Kept) Unwrap() platform.Unit { return k.Unit }

// Stop leaves it running: the platform ends it when it is closed.
func (k *Kept) Stop(context.Context) error { return nil }

// Override puts what the file says of the measured service over what its image says.
func (p *Project) Override(info *platform.ImageInfo) {
	if p == nil {
		return
	}
	c := &p.Service.Settings
	if c.Entrypoint != nil { // Docker drops the CMD then
		info.Entrypoint, info.Args = c.Entrypoint, nil
	}
	if p.Service.Args != nil {
		info.Args = p.Service.Args
	}
	info.User = cmp.Or(p.Service.User, info.User)
	if len(c.Health) > 0 || c.NoHealth {
		info.Health, info.HealthTimeout = c.Health, c.HealthTimeout
	}
}
