package database

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
)

func TestVersionsInWhatProgramsSay(t *testing.T) {
	for said, want := range map[string]string{
		"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)": "15.18",
		"postgres (PostgreSQL) 18beta1":                        "18beta1",
		"db version v7.0.14\nBuild Info: {}":                   "7.0.14",
		"FerretDB 1.24.0":                                      "1.24.0",
		"FerretDB unknown":                                     "",
		"":                                                     "",
	} {
		if got := versionIn(said); got != want {
			t.Errorf("%q: version %q, want %q", said, got, want)
		}
	}
}

// install makes programs in a folder.
func install(t *testing.T, dir string, programs ...string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range programs {
		script := "#!/bin/sh\necho " + dir + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// machine is one with nothing but these folders in PATH and the packages in
// root.
func machine(t *testing.T, root string, path ...string) {
	t.Helper()
	t.Setenv("PATH", strings.Join(path, string(os.PathListSeparator)))
	before := packaged
	packaged = []string{filepath.Join(root, "postgresql/*/bin"), filepath.Join(root, "pgsql-*/bin")}
	t.Cleanup(func() { packaged = before })
}

func TestPostgresIsFound(t *testing.T) {
	both := []string{serverProgram, initProgram}
	for name, layout := range map[string]func(root string) (path []string, want string){
		"in PATH": func(root string) ([]string, string) {
			dir := install(t, root+"/local", both...)
			install(t, root+"/postgresql/15/bin", both...)
			return []string{root + "/nothing", dir}, dir
		},
		"the newest package": func(root string) ([]string, string) {
			install(t, root+"/postgresql/9.6/bin", both...)
			install(t, root+"/postgresql/15/bin", both...)
			return nil, install(t, root+"/pgsql-16/bin", both...)
		},
		"a package without the server is passed over": func(root string) ([]string, string) {
			install(t, root+"/postgresql/16/bin", initProgram)
			return nil, install(t, root+"/postgresql/15/bin", both...)
		},
		"by a link in PATH to one of its programs": func(root string) ([]string, string) {
			dir := install(t, root+"/versions/15", both...)
			links := install(t, root+"/links")
			if err := os.Symlink(filepath.Join(dir, serverProgram), filepath.Join(links, serverProgram)); err != nil {
				t.Fatal(err)
			}
			return []string{links}, dir
		},
		"by pg_config": func(root string) ([]string, string) {
			dir := install(t, root+"/own", append(both, "pg_config")...)
			links := install(t, root+"/links")
			if err := os.Symlink(filepath.Join(dir, "pg_config"), filepath.Join(links, "pg_config")); err != nil {
				t.Fatal(err)
			}
			return []string{links, "/bin"}, dir // pg_config is a script
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			path, want := layout(root)
			if name == "by pg_config" && holds("/bin", serverProgram) {
				t.Skip("this machine has its PostgreSQL in /bin")
			}
			machine(t, root, path...)
			if got, err := findPostgres(); got != want || err != nil {
				t.Errorf("found %q, %v; want %s", got, err, want)
			}
		})
	}
}

func TestWhatIsMissingIsSaidWithTheWayOut(t *testing.T) {
	root := t.TempDir()
	ferret := install(t, root+"/bin", ferretProgram)
	for _, c := range []struct {
		builtin string
		path    string
		want    []string
	}{
		{experiment.Postgres, "", []string{"database postgres: no folder with initdb and postgres", "apt-get install postgresql"}},
		{experiment.MongoDB, "", []string{"database mongodb: neither mongod is in PATH nor millicore-mongodb beside millicore", "`make mongodb`"}},
		{experiment.MongoDB, ferret, []string{"database mongodb: millicore-mongodb needs PostgreSQL, and no folder", "apt-get install postgresql"}},
		{"redis", "", []string{"database redis: no built-in database has this name"}},
	} {
		machine(t, root, c.path)
		err := Check(c.builtin)
		for _, words := range c.want {
			if err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("%s: %v, want %q in it", c.builtin, err, words)
			}
		}
		if version := builtinVersion(t.Context(), c.builtin); version != "" {
			t.Errorf("%s has the version %s", c.builtin, version)
		}
	}
	machine(t, root, install(t, root+"/mongo", mongoProgram))
	if err := Check(experiment.MongoDB); err != nil {
		t.Errorf("with mongod: %v", err)
	}
}

func TestVariablesOfPostgres(t *testing.T) {
	environ := []string{"PATH=/bin", "PGDATA=/d", "PGPORT=1", "APGAR=9"}
	names := libpq(environ)
	if diff := cmp.Diff([]string{"PGDATA", "PGPORT"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"PATH=/bin", "APGAR=9"}, without(environ, names)); diff != "" {
		t.Error(diff)
	}
}

func TestACopyIsLikeWhatItCopies(t *testing.T) {
	user, err := owner("nobody")
	if err != nil {
		t.Fatal(err)
	}
	made := template{user: user, folder: folder(reachable(t))}
	if err := platform.MakeDir(made.folder.Path(), dataDir, user); err != nil {
		t.Fatal(err)
	}
	from := data(made.folder)
	for _, dir := range []string{"inner", "empty"} {
		if err := os.Mkdir(filepath.Join(from, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for file, mode := range map[string]os.FileMode{"a": 0o600, "inner/b": 0o640} {
		if err := os.WriteFile(filepath.Join(from, file), []byte(file), mode); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(t.TempDir(), "secret") // which only the caller may read
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(from, "link")); err != nil {
		t.Fatal(err)
	}
	if user != nil {
		for name := range listing(t, from) {
			if err := os.Lchown(filepath.Join(from, name), user.UID, user.GID); err != nil {
				t.Fatal(err)
			}
		}
	}
	to := folder(reachable(t))
	if err := made.copyTo(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	want := listing(t, from)
	if diff := cmp.Diff(want, listing(t, data(to))); diff != "" {
		t.Errorf("the copy differs (-from +to):\n%s", diff)
	}
	if err := made.copyTo(t.Context(), to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("into a folder that exists: %v", err)
	}
	if user == nil {
		return
	}
	if err := os.Link(secret, filepath.Join(from, "z")); err != nil {
		t.Fatal(err)
	}
	to = folder(reachable(t))
	if err := made.copyTo(t.Context(), to); err == nil {
		t.Error("it copied a file of root's")
	}
	if diff := cmp.Diff(want, listing(t, data(to))); diff != "" {
		t.Errorf("the copy with a file of root's differs (-from +to):\n%s", diff)
	}
}
