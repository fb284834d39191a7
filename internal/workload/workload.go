// Package workload gives the commands that run the sample services of this
// machine: the Go service is a program beside millicore, those in JavaScript
// are scripts in millicore itself, which it unpacks once into the user's cache
// and provides with their packages by npm. What other versions of millicore have
// left there is removed once no run has used it for 30 days.
//
// It is called before a run begins, and never by one that measures: no trial
// pays for an installation.
package workload

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Finder looks for sample services.
type Finder struct {
	// Programs is the folder in which millicore's programs lie.
	Programs string
	// Cache is the folder that installations are kept in; empty: the user's own,
	// as os.UserCacheDir has it.
	Cache string
	// Progress takes a line before something takes long; it may be nil.
	Progress func(line string)
}

// Found is what a Finder found. Of each service that was asked for, one of
// Commands and Missing has the name.
type Found struct {
	// Commands run the services; "${host}" and "${port}" in them stand for where
	// to listen.
	Commands map[string][]string
	// Missing says why there is none, and what to install.
	Missing map[string]error
	// Versions are those of the runtimes that npm installed, as "npm-bun".
	Versions map[string]string
}

// programs are the services that are programs of their own beside millicore, and
// how they are told where to listen.
var programs = map[string][]string{
	"go":        append([]string{"millicore-go"}, listen...),
	"semaphore": {"millicore-semaphore"}, // a benchmark, which serves nobody
}

// listen is how every service is told where to listen.
var listen = []string{"--host", "${host}", "--port", "${port}"}

// Find gives the commands of the services "go", "node", "bun" and "semaphore",
// as names ask.
// Where packages are missing it installs them, which takes some ten seconds
// once. A service that cannot run here is in Missing; the error is that of ctx.
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
		return nil, fmt.Errorf("%s is not beside millicore in %s; `make build` puts all programs into bin/", command[0], f.Programs)
	}
	return append([]string{path}, command[1:]...), nil
}

func (f Finder) progress(line string) {
	if f.Progress != nil {
		f.Progress(line)
	}
}

// cache is the folder that installations are kept in.
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
