package try

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/front/compose"
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
	a, limits := &f.Ask, p.Limits()
	a.Compose, a.Image.Name = p, p.Service.Image
	switch {
	case changed("cpu"):
	case limits["cpu"] != "":
		f.CPU = limits["cpu"]
	default:
		p.Notes = append(p.Notes, fmt.Sprintf("%s has no CPU limit in the file: it is tried under %s CPU, the default of --cpu.", p.Service.Name, f.CPU))
	}
	if !changed("memory") {
		a.Memory = limits["memory"]
	}
	if f.Port == "" {
		a.Port = p.Port()
	}
	if !changed("ready-timeout") && p.Service.Timeout > 0 {
		a.Ready.Timeout = p.Service.Patience()
	}
	if f.Save == "" {
		return nil
	}
	folder, err := filepath.Abs(filepath.Dir(f.Save))
	if err == nil {
		a.composeFrom, err = p.From(folder)
	}
	return err
}

// composed sets the service of a compose file, and the limits that it does not have there.
func (a *Ask) composed(keys map[string]any) map[string]any {
	keys["compose"], keys["service"] = a.composeFrom, a.Compose.Service.Name
	if a.composeFrom == nil {
		keys["compose"] = a.Compose.Files
	}
	if a.Image.Name == a.Compose.Service.Image {
		delete(keys, "image")
	}
	return keys
}

// limits sets the limits of all services, but for those that the compose file has.
func (a *Ask) limits(s *file.Settings) {
	have := a.Compose.Limits()
	for _, l := range []struct{ flag, key, value string }{{"--cpu", "cpu", a.CPU}, {"--memory", "memory", a.Memory}, {"--pids", "pids", count(a.PIDs)}} {
		switch of := have[l.key]; {
		case l.value == of || l.key == "cpu" && a.severalLimits():
		case l.value == "" && l.key == "cpu": // of a file with a limit
			s.Set(l.flag, "limits.cpu", nil)
		default:
			s.SetGiven(l.flag, "limits."+l.key, l.value)
		}
	}
}

// count is a number as text; "": it is 0.
func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
