package try

import (
	"context"
	"fmt"
	"maps"
	"math"
	"strconv"

	"github.com/millicore/millicore/internal/front/compose"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/attached"
)

// readCompose reads the compose files. What the service has there is the default of the
// flags.
func (f *Flags) readCompose(changed func(string) bool) error {
	if len(f.Compose) == 0 {
		return nil
	}
	p, err := compose.Read(context.Background(), f.Compose, f.Service)
	if err != nil {
		return fmt.Errorf("--compose %s: %w", f.Compose[0], err)
	}
	a, s := &f.Ask, &p.Service
	a.Compose, a.Image.Name = p, s.Image
	if len(a.Image.Args) == 0 {
		a.Image.Args = s.Args
	}
	switch {
	case changed("cpu"):
	case s.CPU > 0:
		f.CPU = strconv.FormatInt(int64(math.Round(s.CPU*1000)), 10) + "m"
	default:
		p.Notes = append(p.Notes, fmt.Sprintf("%s has no CPU limit in the file: it is tried under %s CPU, the default of --cpu.", s.Name, f.CPU))
	}
	if !changed("memory") && s.Memory > 0 {
		a.Memory = strconv.FormatInt(s.Memory, 10)
	}
	if !changed("pids") && s.PIDs > 0 {
		f.PIDs = s.PIDs
	}
	if f.Port == "" && len(s.Ports) == 1 {
		a.Port = s.Ports[0]
	}
	if a.User == "" {
		a.User = s.User
	}
	return nil
}

// composeEnv are the variables that a compose file gives the container.
func (a *Ask) composeEnv() map[string]string {
	if a.Compose == nil {
		return map[string]string{}
	}
	return maps.Clone(a.Compose.Service.Env)
}

// dependencies are those of a compose file that run beside the container, as keys of a
// service: the platform has started them.
func (a *Ask) dependencies() (all []any) {
	if a.Compose == nil {
		return nil
	}
	for _, s := range a.Compose.Running() {
		all = append(all, map[string]any{"name": s.Unit, "image": s.Image})
	}
	return all
}

// beside starts the dependencies of a compose file.
func (a *Ask) beside(ctx context.Context, where platform.Platform, note func(string)) (platform.Platform, error) {
	for _, text := range a.Compose.Notes {
		note(text)
	}
	folder, err := attached.NewFolder()
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Remove() }() // the open files of their logs stay
	return a.Compose.Start(ctx, where, folder.Path, note)
}
