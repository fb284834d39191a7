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

// node gives the service on the machine's own Node.js, or, where that is too
// old, on the one from npm.
func (j *javaScript) node(ctx context.Context, versions map[string]string) ([]string, error) {
	dir, err := j.installed(ctx)
	if err != nil {
		return nil, err
	}
	run := j.own
	if j.old() {
		if run, err = ask(ctx, nodeWords, filepath.Join(dir, modules, "node", "bin", "node")); err != nil {
			return nil, fmt.Errorf("the machine's Node.js is %s, and %s or newer is needed; npm's package node does not run either: %w", j.own.version, oldestNode, err)
		}
		versions["npm-node"] = strings.TrimPrefix(run.version, "v")
	}
	return append([]string{run.path, filepath.Join(dir, "node", "main.js")}, listen...), nil
}

// bun gives the service on the Bun from npm: it is the one that the lock file
// names, whatever else the machine has.
func (j *javaScript) bun(ctx context.Context, versions map[string]string) ([]string, error) {
	dir, err := j.installed(ctx)
	if err != nil {
		return nil, err
	}
	run, err := ask(ctx, bunWords, filepath.Join(dir, modules, "bun", "bin", "bun.exe"))
	if err != nil {
		return nil, fmt.Errorf("npm's package bun does not run: %w; it needs its install script: remove ignore-scripts from npm's settings, then the folder %s", err, filepath.Dir(dir))
	}
	versions["npm-bun"] = strings.TrimPrefix(run.version, "v")
	// Nothing of the folder in which millicore runs is to change the service.
	return append([]string{run.path, "--no-install", "--no-env-file", filepath.Join(dir, "bun", "main.js")}, listen...), nil
}

// old says that the machine's Node.js is too old to run the services.
func (j *javaScript) old() bool { return semver.Compare(j.own.version, oldestNode) < 0 }

// installed gives the folder with the scripts, in whose parent the packages are.
func (j *javaScript) installed(ctx context.Context) (string, error) {
	if !j.looked {
		j.looked = true
		j.dir, j.err = j.install(ctx)
	}
	return j.dir, j.err
}

var errNoNode = errors.New("Node.js and npm are not there; install Node.js 20.19 or newer (Debian: apt-get install nodejs npm; else from nodejs.org)")

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

// What a runtime is asked for: its version and where its executable is, which
// behind a version manager's shim is another file than the one that was run.
var (
	nodeWords = []string{"-p", "process.version + ' ' + process.execPath"}
	bunWords  = []string{"--no-install", "--no-env-file", "-p", "'v' + Bun.version + ' ' + process.execPath"}
)

// ask runs a runtime to learn what it is.
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
		return runtime{}, fmt.Errorf("ask %s for its version: it said %q", path, out)
	}
	return runtime{where, version}, nil
}
