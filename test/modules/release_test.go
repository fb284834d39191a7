// Package modules tests that the modules of this repository can be released, and used from
// outside of its workspace.
package modules

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// released is a repository with the working tree as its only commit, and a bare origin.
func released(t *testing.T, root string) (repository, origin string) {
	t.Helper()
	repository, origin = t.TempDir(), t.TempDir()
	for _, path := range strings.Split(output(t, root, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"), "\x00") {
		from, to := filepath.Join(root, path), filepath.Join(repository, path)
		info, err := os.Lstat(from)
		if path == "" || errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		data, err := os.ReadFile(from)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, data, info.Mode().Perm())); err != nil {
			t.Fatal(err)
		}
	}
	output(t, origin, "git", "init", "--quiet", "--bare")
	output(t, repository, "git", "init", "--quiet")
	for _, setting := range []string{"user.name=test", "user.email=test@localhost", "commit.gpgsign=false", "tag.gpgsign=false"} {
		name, value, _ := strings.Cut(setting, "=")
		output(t, repository, "git", "config", name, value)
	}
	output(t, repository, "git", "remote", "add", "origin", origin)
	commit(t, repository)
	return repository, origin
}

func commit(t *testing.T, repository string) {
	t.Helper()
	output(t, repository, "git", "add", "--all")
	output(t, repository, "git", "commit", "--quiet", "--message", "test")
}

// tags are those that scripts/tag-modules.sh prints, or its error.
func tags(repository string, args ...string) (string, error) {
	out, err := exec.Command(filepath.Join(repository, "scripts/tag-modules.sh"), args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// A release tags all modules, with the versions that they require of each other. If a
// library changes after that, the command of docs/releasing.md gives all of them the next
// version.
func TestAReleaseTagsAllModules(t *testing.T) {
	root, repository, origin := checkout(t)
	const first = "internal/cgroup/v0.1.0\nmaxprocs/v0.1.0\nmaxprocs/prometheus/v0.1.0\nmaxprocs/otel/v0.1.0\nv0.9.0"
	all := strings.ReplaceAll(first, "v0.1.0", versions(t, root)["maxprocs"])
	if got, err := tags(repository, "v0.9.0", "--push"); got != all || err != nil {
		t.Fatalf("tags %q, %v; want %q", got, err, all)
	}
	if got := strings.Fields(output(t, origin, "git", "tag")); len(got) != 5 {
		t.Errorf("origin has %q, want all five", got)
	}
	if got, err := tags(repository, "--push"); got != "" || err != nil { // as the workflow does after that
		t.Errorf("again: %q, %v; want nothing", got, err)
	}

	change := filepath.Join(repository, "maxprocs/limit.go")
	source, err := os.ReadFile(change)
	if err := errors.Join(err, os.WriteFile(change, append(source, "\n// changed\n"...), 0o644)); err != nil {
		t.Fatal(err)
	}
	commit(t, repository)
	if got, err := tags(repository, "v0.9.1"); err == nil || !strings.HasPrefix(got, "maxprocs has changed since maxprocs/v") {
		t.Errorf("after a change: %q, %v", got, err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs/releasing.md"))
	if err != nil {
		t.Fatal(err)
	}
	next := regexp.MustCompile(`(?m)^ *(sed -i .*v0\.2\.0.*)$`).FindSubmatch(page)
	if next == nil {
		t.Fatal("docs/releasing.md has no command that sets the next version")
	}
	output(t, repository, "bash", "-c", strings.ReplaceAll(string(next[1]), `v0\.1\.0`, versions(t, root)["maxprocs"]))
	commit(t, repository)
	all = strings.NewReplacer("v0.1.0", "v0.2.0", "v0.9.0", "v0.9.1").Replace(first)
	if got, err := tags(repository, "v0.9.1"); got != all || err != nil {
		t.Errorf("with the next version: tags %q, %v; want %q", got, err, all)
	}
	versions(t, repository)
}

// checkout returns this checkout, and a repository of it as released.
func checkout(t *testing.T) (root, repository, origin string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("git"); err != nil || exec.Command("git", "-C", root, "rev-parse").Run() != nil {
		t.Skip("needs a git checkout, which lists the files of the modules")
	}
	repository, origin = released(t, root)
	return root, repository, origin
}

// user is a module of somebody else, outside of every workspace.
type user struct {
	dir string
	env []string
}

func newUser(t *testing.T, imports, proxies string) user {
	t.Helper()
	u := user{dir: t.TempDir()}
	u.env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -modcacherw -trimpath", "GOMODCACHE="+t.TempDir(), "GOSUMDB=off", "GOPROXY="+proxies)
	source := "package main\n\nimport (\n\t\"fmt\"\n\n\t" + imports + "\n)\n\nfunc main() { " + `fmt.Println(maxprocs.ReadStats().GOMAXPROCS > 0)` + " }\n"
	if err := os.WriteFile(filepath.Join(u.dir, "main.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	u.goes(t, "mod", "init", "example.com/user")
	return u
}

func (u user) goes(t *testing.T, args ...string) string {
	t.Helper()
	c := exec.Command("go", args...)
	c.Dir, c.Env = u.dir, u.env
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", c, err, out)
	}
	return strings.TrimSpace(string(out))
}

const useMaxprocs = `"github.com/millicore/millicore/maxprocs"`

// After a release a service needs no more than go get, which fetches the tags with git,
// without this checkout and without replaced modules.
func TestAServiceRequiresMaxprocsFromItsTags(t *testing.T) {
	root, repository, origin := checkout(t)
	if _, err := tags(repository, "v0.9.0", "--push"); err != nil {
		t.Fatal(err)
	}
	required := versions(t, root)
	fromGit := []string{
		"GOPRIVATE=" + ownModule, "GIT_CONFIG_COUNT=1", // origin instead of GitHub
		"GIT_CONFIG_KEY_0=url.file://" + origin + ".insteadOf", "GIT_CONFIG_VALUE_0=https://" + ownModule,
	}
	u := newUser(t, useMaxprocs, "off")
	u.env = append(u.env, fromGit...)
	u.goes(t, "get", ownModule+"/maxprocs@latest")
	if got := u.goes(t, "run", "."); got != "true" {
		t.Errorf("it prints %q", got)
	}
	want := "example.com/user\n" + ownModule + "/internal/cgroup " + required["internal/cgroup"] + "\n" + ownModule + "/maxprocs " + required["maxprocs"]
	if got := u.goes(t, "list", "-m", "all"); got != want {
		t.Errorf("it requires\n%s\nwant\n%s", got, want)
	}

	// The exporters, whose clients come from the module proxy, or were downloaded before.
	exporters, sources := useMaxprocs, strings.Fields(output(t, root, "go", "env", "GOMODCACHE", "GOPROXY"))
	for _, folder := range []string{"maxprocs/prometheus", "maxprocs/otel"} {
		exporters += "\n\t_ \"" + ownModule + "/" + folder + "\""
	}
	u = newUser(t, exporters, "file://"+filepath.Join(sources[0], "cache/download")+","+sources[1])
	u.env = append(u.env, fromGit...)
	u.goes(t, "mod", "tidy")
	if got := u.goes(t, "run", "."); got != "true" {
		t.Errorf("with the exporters it prints %q", got)
	}
	for _, folder := range libraries {
		if got, want := u.goes(t, "list", "-m", ownModule+"/"+folder), ownModule+"/"+folder+" "+required[folder]; got != want {
			t.Errorf("it requires %q, want %q", got, want)
		}
	}
}

// Before the first release the lines of docs/maxprocs.md let a service use a clone.
func TestAServiceRequiresMaxprocsFromAClone(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs/maxprocs.md"))
	if err != nil {
		t.Fatal(err)
	}
	u := newUser(t, useMaxprocs, "off")
	lines := regexp.MustCompile(`(?m)^go (mod edit -replace \S+maxprocs=.*)$`).FindSubmatch(page)
	if lines == nil {
		t.Fatal("docs/maxprocs.md does not show how to use a clone")
	}
	u.goes(t, strings.Fields(strings.ReplaceAll(string(lines[1]), "../millicore", root))...)
	u.goes(t, "mod", "tidy")
	if got := u.goes(t, "run", "."); got != "true" {
		t.Errorf("it prints %q", got)
	}
}
