package workload

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// oldestNode is the oldest Node.js that the packages run on: engines in
// workloads/package.json.
const oldestNode = "v20.19.0"

// javaScript finds the services in JavaScript; they share an installation.
type javaScript struct {
	finder Finder
	looked bool
	own    runtime // the machine's Node.js
	dir    string  // with the scripts, once installed
	err    error   // why there is none
}

// runtime is an executable and its version, as v20.19.0.
type runtime struct {
	path, version string
}

// node returns the service on the machine's Node.js, or on npm's if the machine's is too
// old.
func (j *javaScript) node(ctx context.Context, versions map[string]string) ([]string, error) {
	dir, err := j.installed(ctx)
	if err != nil {
		return nil, err
	}
	run := j.own
	if j.old() {
		if run, err = askPackage(ctx, nodeWords, filepath.Join(dir, "..", runtimeDir, "node_modules", "node-*", "bin", "node")); err != nil {
			return nil, fmt.Errorf("the machine's Node.js is %s, and %s or newer is needed; npm's does not run either: %w", j.own.version, oldestNode, err)
		}
		versions["npm-node"] = strings.TrimPrefix(run.version, "v")
	}
	return append([]string{run.path, filepath.Join(dir, "node", "main.js")}, listen...), nil
}

// bun returns the service on the Bun from npm, in the version of the lock file,
// regardless of other versions on the machine.
func (j *javaScript) bun(ctx context.Context, versions map[string]string) ([]string, error) {
	dir, err := j.installed(ctx)
	if err != nil {
		return nil, err
	}
	run, err := askPackage(ctx, bunWords, filepath.Join(dir, modules, "@oven", "bun-*", "bin", "bun"))
	if err != nil {
		return nil, fmt.Errorf("npm's package bun does not run: %w", err)
	}
	versions["npm-bun"] = strings.TrimPrefix(run.version, "v")
	// No file of millicore's working directory may affect the service.
	return append([]string{run.path, "--no-install", "--no-env-file", filepath.Join(dir, "bun", "main.js")}, listen...), nil
}

// old reports whether the machine's Node.js is too old for the services.
func (j *javaScript) old() bool { return semver.Compare(j.own.version, oldestNode) < 0 }

// installed returns the folder with the scripts; the packages are in its parent.
func (j *javaScript) installed(ctx context.Context) (string, error) {
	if !j.looked {
		j.looked = true
		j.dir, j.err = j.install(ctx)
	}
	return j.dir, j.err
}

var errNoNode = errors.New("Node.js and npm are not installed; install Node.js 20.19 or newer (Debian: apt-get install nodejs npm; else from nodejs.org)")

func (j *javaScript) install(ctx context.Context) (string, error) {
	var err error
	if j.own, err = ask(ctx, nodeWords, "node"); errors.Is(err, exec.ErrNotFound) {
		return "", errNoNode
	} else if err != nil {
		return "", fmt.Errorf("the machine's Node.js does not run: %w; install Node.js 20.19 or newer", err)
	}
	cache, err := j.finder.cache()
	if err != nil {
		return "", err
	}
	return installation{cache: cache, withNode: j.old(), progress: j.finder.progress}.make(ctx)
}

// Arguments that make a runtime print its version and the path of its executable. With a
// version manager's shim that is a different file from the one that was started.
var (
	nodeWords = []string{"-p", "process.version + ' ' + process.execPath"}
	bunWords  = []string{"--no-install", "--no-env-file", "-p", "'v' + Bun.version + ' ' + process.execPath"}
)

// askPackage asks the runtime of one of several packages, each for another kind of
// machine. npm installs those for this one: of an old npm they are for several C
// libraries, and the first that runs is taken.
func askPackage(ctx context.Context, words []string, pattern string) (runtime, error) {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return runtime{}, err
	}
	var errs []error
	for _, path := range found {
		run, err := ask(ctx, words, path)
		if err == nil {
			return run, nil
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return runtime{}, fmt.Errorf("npm has no package for this kind of machine (%s)", pattern)
	}
	return runtime{}, errors.Join(errs...)
}

// ask runs a runtime to get its version and path.
func ask(ctx context.Context, words []string, path string) (runtime, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second) // a first start from a cold disk
	defer cancel()
	c := exec.CommandContext(ctx, path, words...)
	c.WaitDelay = time.Second
	out, err := c.Output()
	if err != nil {
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, lastLines(failed.Stderr))
		}
		return runtime{}, fmt.Errorf("ask %s for its version: %w", path, err)
	}
	version, where, ok := strings.Cut(strings.TrimSpace(string(out)), " ")
	if !ok || !semver.IsValid(version) || !filepath.IsAbs(where) {
		return runtime{}, fmt.Errorf("ask %s for its version: unexpected output %q", path, out)
	}
	return runtime{where, version}, nil
}
