package modules

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	modzip "golang.org/x/mod/zip"

	"github.com/millicore/millicore/test/testkit"
)

const ownModule = "github.com/millicore/millicore"

// libraries are the folders of the modules that a release tags before the programs, each
// after those that it requires.
var libraries = []string{"internal/cgroup", "maxprocs", "maxprocs/prometheus", "maxprocs/otel"}

// treeFile is a file of the working tree in a module's zip.
type treeFile struct{ dir, path string }

func (f treeFile) Path() string                 { return f.path }
func (f treeFile) Lstat() (os.FileInfo, error)  { return os.Lstat(filepath.Join(f.dir, f.path)) }
func (f treeFile) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(f.dir, f.path)) }

func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v", c, err)
	}
	return string(out)
}

// parsed is the go.mod of a folder.
func parsed(t *testing.T, dir string) *modfile.File {
	t.Helper()
	name := filepath.Join(dir, "go.mod")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse(name, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// versions are those that go.work replaces by the folders of this checkout. It is an
// error if a go.mod requires another one.
func versions(t *testing.T, root string) map[string]string {
	t.Helper()
	work, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	workspace, err := modfile.ParseWork("go.work", work, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, r := range workspace.Replace {
		if folder, ok := strings.CutPrefix(r.Old.Path, ownModule+"/"); ok && r.New.Path == "./"+folder {
			all[folder] = r.Old.Version
		}
	}
	for _, folder := range libraries {
		if all[folder] == "" {
			t.Fatalf("go.work does not replace a version of %s by its folder: without that every command would request it from a proxy", folder)
		}
	}
	for _, folder := range append([]string{"", "maxprocs/examples"}, libraries...) {
		for _, r := range parsed(t, filepath.Join(root, folder)).Require {
			if own, ok := strings.CutPrefix(r.Mod.Path, ownModule+"/"); ok && r.Mod.Version != all[own] {
				t.Errorf("%s/go.mod requires %s %s, go.work has %s", folder, own, r.Mod.Version, all[own])
			}
		}
	}
	return all
}

// publish puts a version of a module into a folder that serves as a module proxy: the
// working tree, or the files of a tag.
func publish(t *testing.T, proxy string, m module.Version, root, under, tag string) (zip string) {
	t.Helper()
	at := filepath.Join(proxy, m.Path, "@v") // its path has no capital letters to escape
	info, _ := json.Marshal(map[string]any{"Version": m.Version, "Time": time.Now()})
	mod, err := os.ReadFile(filepath.Join(root, under, "go.mod"))
	if err := errors.Join(err, os.MkdirAll(at, 0o755), os.WriteFile(filepath.Join(at, m.Version+".info"), info, 0o644),
		os.WriteFile(filepath.Join(at, m.Version+".mod"), mod, 0o644), os.WriteFile(filepath.Join(at, "list"), []byte(m.Version+"\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	zip = filepath.Join(at, m.Version+".zip")
	w, err := os.Create(zip)
	if err != nil {
		t.Fatal(err)
	}
	if tag != "" {
		err = modzip.CreateFromVCS(w, m, root, tag, under)
	} else {
		var files []modzip.File
		dir := filepath.Join(root, under)
		for _, path := range strings.Split(output(t, dir, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"), "\x00") {
			if _, err := os.Lstat(filepath.Join(dir, path)); path != "" && !errors.Is(err, fs.ErrNotExist) {
				files = append(files, treeFile{dir, filepath.ToSlash(path)})
			}
		}
		err = modzip.Create(w, m, files)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return zip
}

// Users install the programs with go install from the modules of a release, without this
// workspace. A tagged version of a library is taken from its tag: if the programs need
// more, it needs a new version.
func TestGoInstall(t *testing.T) {
	testkit.Long(t, "builds all programs from published modules")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("git"); err != nil || exec.Command("git", "-C", root, "rev-parse").Run() != nil {
		t.Skip("needs a git checkout, which lists the files of the modules")
	}
	if own := parsed(t, root); len(own.Replace)+len(own.Exclude) > 0 {
		t.Error("go.mod replaces or excludes modules, which go install refuses")
	}
	required := versions(t, root)

	proxy := t.TempDir()
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range libraries {
		m := module.Version{Path: ownModule + "/" + folder, Version: required[folder]}
		tag := strings.TrimSpace(output(t, root, "git", "tag", "--list", folder+"/"+m.Version))
		hash, err := dirhash.HashZip(publish(t, proxy, m, root, folder, tag), dirhash.Hash1)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(sums)) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == m.Path && f[1] == m.Version && f[2] != hash {
				t.Errorf("go.sum has %s as %s, and it is %s: it was changed after that version; require a new version", m, f[2], hash)
			}
		}
	}
	publish(t, proxy, module.Version{Path: ownModule, Version: "v0.0.0-test"}, root, "", "")

	where := t.TempDir()
	var env struct{ GOMODCACHE, GOPROXY string }
	if err := json.Unmarshal([]byte(output(t, root, "go", "env", "-json", "GOMODCACHE", "GOPROXY")), &env); err != nil {
		t.Fatal(err)
	}
	goes := func(dir, flags string, args ...string) {
		t.Helper()
		c := exec.Command("go", args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOBIN="+filepath.Join(where, "bin"), "GOMODCACHE="+filepath.Join(where, "mod"),
			"GOFLAGS=-trimpath -modcacherw"+flags, "GOSUMDB=off", // hashes of other modules were verified at their download
			"GOPROXY=file://"+proxy+",file://"+filepath.Join(env.GOMODCACHE, "cache/download")+","+env.GOPROXY)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", c, err, out)
		}
	}
	goes(where, "", "install", ownModule+"/cmd/...@v0.0.0-test")
	programs, err := filepath.Glob(filepath.Join(root, "cmd/*"))
	if err != nil || len(programs) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	for _, program := range programs {
		if _, err := os.Stat(filepath.Join(where, "bin", filepath.Base(program))); err != nil {
			t.Error(err)
		}
	}
	if out := output(t, where, filepath.Join(where, "bin/millicore"), "--help"); !strings.Contains(out, "millicore run") {
		t.Errorf("it prints %q", out)
	}

	// The examples are not released; they build with the requirements of their go.mod.
	// go.sum has the versions of the libraries once they are tagged.
	copied := filepath.Join(where, "examples")
	if err := os.CopyFS(copied, os.DirFS(filepath.Join(root, "maxprocs/examples"))); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(copied, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	goes(copied, " -mod=mod", "build", "-o", filepath.Join(where, "bin")+"/", "./...")
	if after, err := os.ReadFile(filepath.Join(copied, "go.mod")); err != nil || string(after) != string(before) {
		t.Errorf("the examples' go.mod lacks requirements (%v); with them it is\n%s", err, after)
	}
}
