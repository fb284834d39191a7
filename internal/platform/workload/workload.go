// Package workload finds and installs the sample services on this machine, and returns
// their commands. The Go service is a program in millicore's folder. The services in
// JavaScript are embedded in millicore; the package unpacks them once into the user's
// cache, and installs their dependencies with npm. It removes installations of other
// versions of millicore that no run has used for 30 days.
//
// It runs before the first trial, so installations do not affect measurements. It does
// not start the services.
package workload

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Finder finds sample services.
type Finder struct {
	// Programs is the folder of millicore's programs.
	Programs string
	// Cache is the folder for installations; empty: that of os.UserCacheDir.
	Cache string
	// Progress is called with a line before something that takes long; it may be nil.
	Progress func(line string)
}

// Found is the result of a Finder. Each requested service is either in Commands or in
// Missing.
type Found struct {
	// Commands run the services; "${host}" and "${port}" are placeholders for the
	// address to listen on.
	Commands map[string][]string
	// Missing is why a service cannot run, and what to install.
	Missing map[string]error
	// Versions are those of the runtimes that npm installed, such as "npm-bun".
	Versions map[string]string
}

// programs are the commands of the services that are separate programs in millicore's
// folder.
var programs = map[string][]string{
	"go":        append([]string{"millicore-go"}, listen...),
	"semaphore": {"millicore-semaphore"}, // a benchmark without a server
}

// listen are the arguments that set a service's address.
var listen = []string{"--host", "${host}", "--port", "${port}"}

// Find returns the commands of the named services: "go", "node", "bun" and "semaphore".
// It installs missing packages, which takes about ten seconds once. A service that
// cannot run here is in Missing; the error is that of ctx.
func (f Finder) Find(ctx context.Context, names []string) (Found, error) {
	found := Found{Commands: map[string][]string{}, Missing: map[string]error{}, Versions: map[string]string{}}
	js := javaScript{finder: f}
	for _, name := range names {
		var command []string
		var err error
		switch name {
		case "go", "semaphore":
			command, err = f.program(programs[name])
		case "node":
			command, err = js.node(ctx, found.Versions)
		case "bun":
			command, err = js.bun(ctx, found.Versions)
		default:
			err = fmt.Errorf("no sample service is named %q", name)
		}
		if ctx.Err() != nil {
			return Found{}, ctx.Err()
		}
		if err != nil {
			found.Missing[name] = err
			continue
		}
		found.Commands[name] = command
	}
	return found, nil
}

func (f Finder) program(command []string) ([]string, error) {
	path := filepath.Join(f.Programs, command[0])
	if _, err := exec.LookPath(path); err != nil {
		return nil, fmt.Errorf("%s is not in millicore's folder %s; `make build` puts all programs into bin/", command[0], f.Programs)
	}
	return append([]string{path}, command[1:]...), nil
}

func (f Finder) progress(line string) {
	if f.Progress != nil {
		f.Progress(line)
	}
}

// cache is the folder for installations.
func (f Finder) cache() (string, error) {
	if f.Cache != "" {
		return f.Cache, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for packages: %w; set XDG_CACHE_HOME", err)
	}
	return filepath.Join(dir, "millicore", "workloads"), nil
}
