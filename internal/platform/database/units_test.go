package database

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform"
)

// folders is a platform that makes folders, and nothing else.
type folders struct {
	platform.Platform
	dir string
}

type folder string

func (f folder) Path() string  { return string(f) }
func (f folder) Remove() error { return os.RemoveAll(string(f)) }

func (f folders) Folder(string, *platform.User) (platform.Folder, error) { return folder(f.dir), nil }

var likeFunctions = cmpopts.IgnoreFields(platform.UnitSpec{}, "Serves")

func TestTheUnitOfPostgres(t *testing.T) {
	t.Setenv("PGDATA", "/somebody/elses")
	user := &platform.User{Name: "postgres", UID: 101, GID: 104}
	made := &template{bin: "/usr/lib/postgresql/15/bin", user: user, password: "a/b"}
	limits := experiment.Limits{CPUMillis: 500, Replicas: 1}
	got := made.unit(platform.UnitSpec{Trial: 3, Name: "postgres", Limits: limits, Logs: "logs"}, folder("/runs/${x}"))
	want := platform.UnitSpec{
		Trial: 3, Name: "postgres", Limits: limits, Logs: "logs", Dir: "/runs/${x}", User: user, PrivateIPC: true, StopSignal: syscall.SIGQUIT,
		Command: []string{"/usr/lib/postgresql/15/bin/postgres", "-D", "/runs/$${x}/data",
			"-c", "listen_addresses=${host}", "-c", "port=${port}", "-c", "unix_socket_directories="},
	}
	if !slices.Contains(got.Unset, "PGDATA") {
		t.Errorf("unset %v, want PGDATA in it", got.Unset)
	}
	got.Unset = nil
	if diff := cmp.Diff(want, got, likeFunctions); diff != "" {
		t.Errorf("unit (-want +got):\n%s", diff)
	}
	if url := made.url("127.0.0.1:5432"); url != "postgres://millicore:a%2Fb@127.0.0.1:5432/millicore?sslmode=disable" {
		t.Error(url)
	}
}

func TestTheUnitOfMongod(t *testing.T) {
	dir := t.TempDir()
	s, server := New(folders{dir: dir}, ""), &Server{}
	got, err := s.mongod("/usr/bin/mongod", platform.UnitSpec{Name: "mongodb"}, server)
	if err != nil {
		t.Fatal(err)
	}
	want := platform.UnitSpec{Name: "mongodb", Dir: dir, Command: []string{"/usr/bin/mongod", "--dbpath", filepath.Join(dir, "data"),
		"--bind_ip", "${host}", "--port", "${port}", "--nounixsocket"}}
	if os.Geteuid() == 0 {
		if got.User == nil || got.User.UID == 0 {
			t.Errorf("it runs as %+v", got.User)
		}
		got.User = nil
	}
	if diff := cmp.Diff(want, got, likeFunctions); diff != "" {
		t.Errorf("unit (-want +got):\n%s", diff)
	}
	if err := server.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("its data is left")
	}
}

func TestTheUnitsOfImages(t *testing.T) {
	limits := experiment.Limits{Memory: 1 << 30, Replicas: 1}
	u := platform.UnitSpec{Trial: 3, Name: "db", Limits: limits, Logs: "logs"}
	made := &template{password: "secret"}
	want := platform.UnitSpec{
		Trial: 3, Name: "db", Limits: limits, Logs: "logs", Image: "postgres:17-alpine", StopSignal: syscall.SIGQUIT,
		Command: []string{"postgres", "-c", "listen_addresses=${host}", "-c", "port=${port}"},
		Env: map[string]string{"POSTGRES_USER": "millicore", "POSTGRES_PASSWORD": "secret", "POSTGRES_DB": "millicore",
			"POSTGRES_INITDB_ARGS": "--encoding=UTF8 --no-locale"}, Hidden: []string{"POSTGRES_PASSWORD"},
	}
	if diff := cmp.Diff(want, made.image(u), likeFunctions); diff != "" {
		t.Errorf("PostgreSQL (-want +got):\n%s", diff)
	}
	want = platform.UnitSpec{Trial: 3, Name: "db", Limits: limits, Logs: "logs", Image: "mongo:8",
		Command: []string{"mongod", "--bind_ip", "${host}", "--port", "${port}"},
		Env:     map[string]string{"MONGO_INITDB_ROOT_USERNAME": "millicore", "MONGO_INITDB_ROOT_PASSWORD": "secret"}, Hidden: []string{"MONGO_INITDB_ROOT_PASSWORD"}}
	if diff := cmp.Diff(want, mongoUser{"secret"}.image(u), likeFunctions); diff != "" {
		t.Errorf("MongoDB (-want +got):\n%s", diff)
	}
}

// containers is a platform that starts images, at one address.
type containers struct {
	platform.ImageRunner
	started []platform.UnitSpec
}

type container struct{ platform.Unit }

func (container) Replicas() []platform.Replica { return []platform.Replica{at("172.18.0.2:5432")} }

type at string

func (a at) Address() string                                   { return string(a) }
func (at) Counters() (c signals.Counters, _ error)             { return c, nil }
func (at) ThrottleSample() (p signals.ThrottleSample, _ error) { return p, nil }
func (at) PIDs() []int                                         { return nil }

func (c *containers) Start(_ context.Context, u platform.UnitSpec) (platform.Unit, error) {
	c.started = append(c.started, u)
	return container{}, nil
}

func TestOnAPlatformOfImagesDatabasesAreImages(t *testing.T) {
	on := &containers{}
	s := New(on, t.TempDir())
	// Other pods and containers may reach them: each asks for a password of its own.
	for i, c := range []struct{ builtin, password, want string }{
		{experiment.Postgres, "POSTGRES_PASSWORD", "postgres://millicore:%s@172.18.0.2:5432/millicore?sslmode=disable"},
		{experiment.MongoDB, "MONGO_INITDB_ROOT_PASSWORD", "mongodb://millicore:%s@172.18.0.2:5432/millicore?authSource=admin"},
		{experiment.MongoDB, "MONGO_INITDB_ROOT_PASSWORD", "mongodb://millicore:%s@172.18.0.2:5432/millicore?authSource=admin"},
	} {
		server, err := s.Start(t.Context(), &experiment.Dependency{Name: "db", Builtin: c.builtin}, 1, "")
		if err != nil {
			t.Fatal(err)
		}
		password := on.started[i].Env[c.password]
		if want := fmt.Sprintf(c.want, password); server.URL() != want || len(password) < 20 {
			t.Errorf("%s, want %s", server.URL(), want)
		}
		if i > 0 && password == on.started[i-1].Env[c.password] {
			t.Error("two databases have the same password")
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
