package database

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/local"
	"github.com/millicore/millicore/test/testkit"
)

// Real databases, on the platform of this machine.

func ownerOf(info fs.FileInfo) uint32 { return info.Sys().(*syscall.Stat_t).Uid }

// need skips a test where a database cannot be started; in CI it fails.
func need(t *testing.T, builtin string) {
	t.Helper()
	testkit.Long(t, "a real database")
	bin, err := filepath.Abs("../../../bin") // where make mongodb puts it
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+bin)
	if err := Check(builtin); err != nil {
		testkit.Missing(t, err)
	}
}

// open returns a set, of which nothing is left when the test is over, and the
// folder that its data lies in.
func open(t *testing.T) (*Set, string) {
	t.Helper()
	dir := reachable(t)
	p, err := local.New(local.Options{State: t.TempDir(), Note: func(note string) { t.Log("note:", note) }, RestartAfter: time.Millisecond})
	if err != nil {
		testkit.Missing(t, err)
	}
	s := New(p, dir)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left in the folder: %v", left)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, dir
}

func start(t *testing.T, s *Set, builtin string, trial int) *Server {
	t.Helper()
	server, err := s.Start(t.Context(), dependency(builtin), trial, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, server) })
	return server
}

func dependency(builtin string) *experiment.Dependency {
	return &experiment.Dependency{Name: builtin, Builtin: builtin, Ready: experiment.Ready{Timeout: testkit.Patience}}
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	if err := s.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// ask gives the first column of the first row of a query's answer.
func ask(t *testing.T, url, query string) (answer string, err error) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		return "", err
	}
	defer conn.Close(context.Background())
	err = conn.QueryRow(t.Context(), query).Scan(&answer)
	return answer, err
}

func mustAsk(t *testing.T, url, query string) string {
	t.Helper()
	answer, err := ask(t, url, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return answer
}

func TestEachTrialGetsAnEmptyPostgres(t *testing.T) {
	need(t, experiment.Postgres)
	s, dir := open(t)
	for trial := 1; trial <= 2; trial++ {
		server := start(t, s, experiment.Postgres, trial)
		if n := mustAsk(t, server.URL(), "select count(*)::text from pg_tables where schemaname = 'public'"); n != "0" {
			t.Errorf("trial %d began with %s tables", trial, n)
		}
		conn, err := pgx.Connect(t.Context(), server.URL())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "create table devices (id int); insert into devices values (1)"); err != nil {
			t.Error(err)
		}
		conn.Close(t.Context())
		c, err := server.Replicas()[0].Counters()
		if err != nil || len(server.Replicas()) != 1 || !c.Up || *c.CPU <= 0 || *c.Memory <= 0 {
			t.Errorf("counters %+v, %v", c, err)
		}
		stop(t, server)
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 { // the template
			t.Errorf("left after trial %d: %v", trial, left)
		}
	}
}

// The published shape is PostgreSQL as it comes.
func TestPostgresHasItsOwnDefaults(t *testing.T) {
	need(t, experiment.Postgres)
	s, _ := open(t)
	server := start(t, s, experiment.Postgres, 1)
	at, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	got, want := map[string]string{}, map[string]string{
		"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "shared_buffers": "128MB", "max_connections": "100",
		"listen_addresses": "127.0.0.1", "port": at.Port(), "unix_socket_directories": "",
		"server_encoding": "UTF8", "lc_collate": "C", "password_encryption": "scram-sha-256",
	}
	for name := range want {
		got[name] = mustAsk(t, server.URL(), "show "+name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if who := mustAsk(t, server.URL(), "select current_database() || ' ' || current_user"); who != "millicore millicore" {
		t.Errorf("database and user %q", who)
	}
	at.User = url.UserPassword(name, "guessed")
	if _, err := ask(t, at.String(), "select 'in'"); err == nil || !strings.Contains(err.Error(), "password") {
		t.Errorf("with another password: %v", err)
	}
	if os.Geteuid() == 0 {
		pid := server.Replicas()[0].PIDs()[0]
		info, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
		if err != nil || ownerOf(info) == 0 {
			t.Errorf("it runs as root (%v)", err)
		}
	}
}

func TestAKilledPostgresComesBackWithItsData(t *testing.T) {
	need(t, experiment.Postgres)
	s, _ := open(t)
	server := start(t, s, experiment.Postgres, 1)
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "create table kept as select 'kept' as word"); err != nil {
		t.Fatal(err)
	}
	kill(t, server.Replicas()[0])
	conn.Close(t.Context())
	if word := mustAsk(t, server.URL(), "select word from kept"); word != "kept" {
		t.Errorf("%q came back", word)
	}
}

// kill kills a replica's first process, and waits until it is up again.
func kill(t *testing.T, r platform.Replica) {
	t.Helper()
	if err := syscall.Kill(r.PIDs()[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the process is up again", func() bool {
		c, err := r.Counters()
		if err != nil {
			t.Fatal(err)
		}
		return c.Restarts == 1 && c.Up
	})
}

func TestMongoDB(t *testing.T) {
	need(t, experiment.MongoDB)
	s, _ := open(t)
	server := start(t, s, experiment.MongoDB, 1)
	client, err := mongo.Connect(options.Client().ApplyURI(server.URL()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(context.Background())
	devices := client.Database(name).Collection("devices")
	if n, err := devices.CountDocuments(t.Context(), bson.D{}); n != 0 || err != nil {
		t.Errorf("it began with %d documents, %v", n, err)
	}
	insert := func(id string) error {
		_, err := devices.InsertOne(t.Context(), bson.D{{Key: "_id", Value: id}})
		return err
	}
	if err := insert("a"); err != nil {
		t.Fatal(err)
	}
	replicas := server.Replicas()
	at, err := url.Parse(server.URL())
	if err != nil || at.Scheme != "mongodb" || at.Host != replicas[0].Address() {
		t.Errorf("URL %s, %v; the first process is at %s", server.URL(), err, replicas[0].Address())
	}
	for i, r := range replicas {
		if c, err := r.Counters(); err != nil || !c.Up || *c.CPU <= 0 || *c.Memory <= 0 {
			t.Errorf("process %d: %+v, %v", i, c, err)
		}
		kill(t, r)
	}
	// FerretDB may hold connections to the PostgreSQL that was killed.
	testkit.Value(t, "a document is inserted", func() (struct{}, error) { return struct{}{}, insert("b") })
	if n, err := devices.CountDocuments(t.Context(), bson.D{}); n != 2 || err != nil {
		t.Errorf("%d documents, %v, want 2", n, err)
	}
	version := builtinVersion(t.Context(), experiment.MongoDB)
	if len(replicas) == 2 && !(strings.HasPrefix(version, "FerretDB 1.") && strings.Contains(version, " over PostgreSQL ")) {
		t.Errorf("version %q", version)
	}
}

func TestWhatCannotBeStartedLeavesNothing(t *testing.T) {
	need(t, experiment.Postgres)
	s, dir := open(t)
	start(t, s, experiment.Postgres, 1) // with the template there it takes a moment
	d := dependency(experiment.Postgres)
	d.Ready.Timeout = time.Nanosecond
	if _, err := s.Start(t.Context(), d, 2, t.TempDir()); err == nil || !strings.Contains(err.Error(), "database postgres: ") || !strings.Contains(err.Error(), "not ready within 1ns") {
		t.Errorf("error %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 { // the template, and trial 1
		t.Errorf("left: %v", left)
	}
}

func TestAnInitThatFailsSaysWhy(t *testing.T) {
	need(t, experiment.Postgres)
	fake := filepath.Join(t.TempDir(), "bin")
	if err := os.MkdirAll(fake, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(filepath.Dir(fake)), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{serverProgram, initProgram} {
		if err := os.WriteFile(filepath.Join(fake, program), []byte("#!/bin/sh\necho no space left >&2; exit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", fake+":/bin")
	s, dir := open(t)
	if _, err := s.Start(t.Context(), dependency(experiment.Postgres), 1, t.TempDir()); err == nil || !strings.Contains(err.Error(), "initdb: exit status 1: no space left") {
		t.Errorf("error %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
