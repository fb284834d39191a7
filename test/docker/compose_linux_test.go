package docker

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/test/dockerd"
	"github.com/millicore/millicore/test/testkit"
)

// database starts Debian's PostgreSQL as its official image does: a new cluster in an empty
// folder, then the server.
const database = `
set -e
if [ ! -d /data/cluster ]; then
  initdb --no-sync --auth trust --username shop /data/cluster
  echo "host all all all trust" >> /data/cluster/pg_hba.conf
fi
exec postgres -D /data/cluster -c listen_addresses='*' -c unix_socket_directories=/tmp -c fsync=off
`

// postgresImage is Debian's PostgreSQL.
func postgresImage(t *testing.T) {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		testkit.Missing(t, "PostgreSQL is not installed; scripts/setup-tests.sh installs it")
	}
	bin := filepath.Dir(found[0])
	version := filepath.Base(filepath.Dir(bin))
	programs := []string{"/bin/sh"}
	for _, name := range []string{"initdb", "postgres", "psql", "pg_isready"} {
		programs = append(programs, filepath.Join(bin, name))
	}
	bench.Image(t, "millicore-test:postgres", dockerd.Root{
		Programs: programs,
		Paths:    []string{"/usr/share/postgresql/" + version, filepath.Join(filepath.Dir(bin), "lib"), "/usr/share/zoneinfo", "/etc/nsswitch.conf"},
		Except:   regexp.MustCompile("/(bitcode|locale|right|posix|llvmjit.*)$"),
		Texts:    map[string]string{"/start.sh": database, "/etc/passwd": "shop:x:1000:1000::/:/bin/sh\n", "/etc/group": "shop:x:1000:\n"},
		Folders:  []string{"/data", "/tmp"},
	}, `ENTRYPOINT ["/bin/sh", "/start.sh"]`, "USER 1000:1000", "ENV PATH="+bin+":/usr/bin:/bin", "EXPOSE 5432")
}

// shop is a WSGI application that asks PostgreSQL for each answer, in its own protocol. It
// needs what a compose file gives it: the name of the database, a table, a variable of an
// env_file and a secret.
const shop = `
import os, socket, struct

assert os.environ["GREETING"] == "hello ${you}", os.environ["GREETING"]
assert open("/run/secrets/token").read() == "abc"

def connect():
    s = socket.create_connection((os.environ["DATABASE"], 5432))
    text = struct.pack("!I", 196608) + b"user\0shop\0database\0postgres\0\0"
    s.sendall(struct.pack("!I", len(text) + 4) + text)
    f = s.makefile("rb")
    answer(f)
    return s, f

def answer(f):
    rows = []
    while True:
        kind, size = struct.unpack("!cI", f.read(5))
        body = f.read(size - 4)
        if kind == b"E":
            raise OSError(body)
        if kind == b"D":
            rows.append(body[6:])
        if kind == b"Z":
            return rows

connection = None

def app(environ, start_response):
    global connection
    connection = connection or connect()
    s, f = connection
    text = b"select sum(price) from items\0"
    s.sendall(b"Q" + struct.pack("!I", len(text) + 4) + text)
    body = answer(f)[0]
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
`

// shopImage is gunicorn of the Python package index with that application.
func shopImage(t *testing.T) {
	t.Helper()
	servers := os.Getenv("HOME") + "/.cache/millicore/python-servers"
	packages, err := filepath.Glob(servers + "/lib/python3*/site-packages")
	if err != nil || len(packages) == 0 {
		testkit.Missing(t, "gunicorn is not installed; scripts/setup-tests.sh installs it")
	}
	paths := pythonLibrary(t)
	modules, err := filepath.Glob(paths[0] + "/lib-dynload/*.so") // of which some load libraries
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gunicorn", "packaging"} {
		if found := filepath.Join(packages[0], name); name == "gunicorn" || exists(found) {
			paths = append(paths, found)
		}
	}
	bench.Image(t, "millicore-test:shop", dockerd.Root{
		Programs: append(modules, "/usr/bin/python3"),
		Paths:    paths,
		Except:   regexp.MustCompile("/(dist-packages|test|idlelib|tkinter|config-[^/]*|ensurepip|__pycache__|pydoc_data|lib2to3)$"),
		Texts:    map[string]string{"/app/shop.py": shop},
		Folders:  []string{"/tmp"},
	}, `ENTRYPOINT ["/usr/bin/python3", "-m", "gunicorn"]`, `CMD ["not-the-one:app"]`, "WORKDIR /app", "ENV PYTHONPATH="+packages[0])
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

const composeFile = `
services:
  web:
    image: millicore-test:shop
    command: [--bind, "0.0.0.0:8000", --workers, "2", "shop:app"]
    ports: ["127.0.0.1:8080:8000"]
    environment: {DATABASE: database}
    env_file: web.env
    secrets: [token]
    deploy: {resources: {limits: {cpus: "0.3", memory: 256M}}}
    depends_on:
      db: {condition: service_healthy}
      migrate: {condition: service_completed_successfully}
    healthcheck:
      test: ["CMD", "/usr/bin/python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/')"]
  migrate:
    image: millicore-test:postgres
    entrypoint: psql -h db -U shop -d postgres
    command: ["-c", "create table items as select generate_series(1, 100) as price"]
    depends_on: {db: {condition: service_healthy}}
  db:
    image: millicore-test:postgres
    volumes: ["data:/data"]
    networks: {default: {aliases: [database]}}
    healthcheck: {test: "pg_isready -h 127.0.0.1 -U shop -d postgres", interval: 1s, retries: 60}
  admin:
    image: never-there:1
    depends_on: [web]
volumes: {data: {}}
secrets: {token: {file: ./token}}
`

// composeFolder has a compose file with what it names.
func composeFolder(t *testing.T) string {
	t.Helper()
	postgresImage(t)
	shopImage(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"compose.yaml": composeFile, "web.env": "GREETING='hello ${you}'\n", "token": "abc"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAServiceOfAComposeFileIsTriedBesideItsDatabase(t *testing.T) {
	dir := composeFolder(t)
	saved := filepath.Join(t.TempDir(), "saved.yaml")
	c := exec.Command(filepath.Join(bench.Programs(), "millicore"), "try", "--compose", filepath.Join(dir, "compose.yaml"), "--service", "web", "--json", "--as-is", "--traffic", "20s", "--save", saved)
	c.Dir = t.TempDir()
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	got := testkit.Answer[tried](t, err, out, errs.String())
	bench.NothingLeft(t)
	t.Logf("%s\n%s", got.Verdict, errs.String())
	cell := &got.Cells[0]
	breaks(t, cell)
	if l := cell.Limits; l.CPUMillis == nil || *l.CPUMillis != 300 || l.MemoryBytes == nil || *l.MemoryBytes != 256<<20 {
		t.Errorf("limits %+v", l)
	}
	if len(cell.Dependencies) != 1 || cell.Dependencies[0].Name != "db" || cell.Dependencies[0].Cores == nil || *cell.Dependencies[0].Cores == 0 {
		t.Errorf("dependencies %+v", cell.Dependencies)
	}
	said := strings.Join(strings.Fields(errs.String()), " ")
	for _, want := range []string{"db was healthy after ", "migrate completed after ", "Not started, because web does not depend on it: admin.", "and listens on port 8000"} {
		if !strings.Contains(said, want) {
			t.Errorf("%s\nwant in it: %s", said, want)
		}
	}
	again(t, cell, saved)
}

// again runs the saved experiment, which names the compose file, under a load that the service
// holds, and with the limits of another file.
func again(t *testing.T, tried *summary.Cell, saved string) {
	t.Helper()
	s, _ := run(t, "docker", saved, "--set", "load.find=null", "--set", "load.rate=20", "--set", "measure.duration=3s", "--set", "measure.repeats=1", "--set", "limits.memory=200Mi")
	cell := &s.Cells[0]
	if l := cell.Limits; l.CPUMillis == nil || *l.CPUMillis != 300 || l.MemoryBytes == nil || *l.MemoryBytes != 200<<20 {
		t.Errorf("limits %+v", l)
	}
	if cell.Service != tried.Service || len(cell.Dependencies) != 1 || cell.Dependencies[0].Name != "db" || cell.Dependencies[0].Cores == nil {
		t.Errorf("service %s, dependencies %+v", cell.Service, cell.Dependencies)
	}
	if cell.Availability == nil || *cell.Availability < 99 {
		t.Errorf("availability %v", cell.Availability)
	}
}

// composing starts a try of the compose file, and returns when so many containers run.
func composing(t *testing.T, containers int) *exec.Cmd {
	t.Helper()
	dir := composeFolder(t)
	c := exec.Command(filepath.Join(bench.Programs(), "millicore"), "try", "--compose", filepath.Join(dir, "compose.yaml"), "--service", "web", "--out", filepath.Join(dir, "record"))
	c.Dir = dir
	testkit.Start(t, c)
	testkit.Until(t, "the containers run", func() bool {
		groups, err := bench.Daemon().Groups()
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, group := range groups {
			names[filepath.Base(group)] = true
		}
		return len(names) >= containers
	})
	return c
}

func TestAKilledTryOfAComposeFileIsCleaned(t *testing.T) {
	c := composing(t, 2)
	c.Process.Kill()
	c.Wait()
	out, err := exec.Command(filepath.Join(bench.Programs(), "millicore"), "clean", "--on", "docker").CombinedOutput()
	if err != nil || strings.Count(string(out), "removed container millicore-") < 2 || !strings.Contains(string(out), "removed volume millicore-") {
		t.Fatalf("%v\n%s", err, out)
	}
	bench.NothingLeft(t)
}

func TestAnInterruptedStartOfDependenciesLeavesNothing(t *testing.T) {
	c := composing(t, 1)
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("%v, want exit code 130", err)
	}
	bench.NothingLeft(t)
}

// What a file needs of Docker is checked before anything starts; what fails later is removed.
func TestAComposeFileThatCannotStartLeavesNothing(t *testing.T) {
	bench.Need(t)
	for _, c := range []struct{ name, web, db, want string }{
		{"an image that was not built", "build: .", "image: IMAGE, healthcheck: {test: [CMD, /server]}", "services.web.build: Docker has no image shop-web; build it first: docker compose -f "},
		{"an image that is not available", "image: IMAGE", "image: 127.0.0.1:1/none:1", "services.db.image: Docker has no image 127.0.0.1:1/none:1"},
		{"no health check", "image: IMAGE", "image: IMAGE", "services.db.healthcheck: another service waits until it is healthy"},
		{"a program that is not there", "image: IMAGE", "image: IMAGE, entrypoint: [/none], healthcheck: {test: [CMD, /none]}", "start the dependency db: "},
		{"a dependency that ends", "image: IMAGE", "image: IMAGE, command: [--no-such-flag], healthcheck: {test: [CMD, /none]}", "start the dependency db: it ended before it was ready"},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := file(t, "name: shop\nservices:\n  web: {"+c.web+", depends_on: {db: {condition: service_healthy}}}\n  db: {"+c.db+"}\n")
			if out := refused(t, 1, "try", "--compose", name, "--service", "web"); !strings.Contains(strings.Join(strings.Fields(out), " "), c.want) {
				t.Errorf("%s\nwant in it: %s", out, c.want)
			}
		})
	}
}
