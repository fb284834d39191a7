package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func environment(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

func TestSettings(t *testing.T) {
	defaults := settings{address: ":8080", framework: "net/http", store: "memory", connections: 10, patience: patience}
	with := func(change func(*settings)) settings {
		s := defaults
		change(&s)
		return s
	}
	const postgresURL, mongoURL = "postgresql://u@127.0.0.1/d", "mongodb+srv://h.example/d"
	for _, c := range []struct {
		name string
		args []string
		env  map[string]string
		want settings
	}{
		{"no settings", nil, nil, defaults},
		{"environment", nil, map[string]string{"HOST": "127.0.0.1", "PORT": "9"},
			with(func(s *settings) { s.address = "127.0.0.1:9" })},
		{"flags take precedence", []string{"--host", "::1", "--port=10"}, map[string]string{"HOST": "127.0.0.1", "PORT": "9"},
			with(func(s *settings) { s.address = "[::1]:10" })},
		{"empty variables", nil, map[string]string{"HOST": "", "PORT": "", "PPROF": "", "FRAMEWORK": "", "STORE": "", "WORKERS": "", "DATABASE_CONNECTIONS": ""},
			defaults},
		{"a framework", nil, map[string]string{"FRAMEWORK": "fasthttp"}, with(func(s *settings) { s.framework = "fasthttp" })},
		{"profiles on", nil, map[string]string{"PPROF": "1"}, with(func(s *settings) { s.profile = true })},
		{"profiles off", nil, map[string]string{"PPROF": "0"}, defaults},
		{"most workers", nil, map[string]string{"WORKERS": "1024"}, with(func(s *settings) { s.workers = 1024 })},
		{"an unused URL", nil, map[string]string{"STORE": "memory", "DATABASE_URL": "nonsense"}, defaults},
		{"postgres", nil, map[string]string{"STORE": "postgres", "DATABASE_URL": postgresURL, "DATABASE_CONNECTIONS": "1000"},
			with(func(s *settings) { s.store, s.database, s.connections = "postgres", postgresURL, 1000 })},
		{"mongodb", nil, map[string]string{"STORE": "mongodb", "DATABASE_URL": mongoURL, "DATABASE_CONNECTIONS": "1"},
			with(func(s *settings) { s.store, s.database, s.connections = "mongodb", mongoURL, 1 })},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := readSettings(c.args, environment(c.env), io.Discard)
			if err != nil || got != c.want {
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())

	for _, c := range []struct {
		name string
		args []string
		env  map[string]string
		code int
		want string // on standard error
	}{
		{"unknown flag", []string{"--prot", "1"}, nil, 2, "-prot"},
		{"an argument", []string{"8080"}, nil, 2, `unexpected argument "8080"`},
		{"port is a word", []string{"--port", "http"}, nil, 2, `port "http"`},
		{"port too large", nil, map[string]string{"PORT": "65536"}, 2, `port "65536"`},
		{"PPROF is a word", nil, map[string]string{"PPROF": "true"}, 2, `PPROF="true"`},
		{"unknown framework", nil, map[string]string{"FRAMEWORK": "gin"}, 2, `FRAMEWORK="gin": set it to net/http or fasthttp`},
		{"no workers", nil, map[string]string{"WORKERS": "0"}, 2, `WORKERS="0": set it to a whole number from 1 to 1024`},
		{"too many workers", nil, map[string]string{"WORKERS": "1025"}, 2, `WORKERS="1025"`},
		{"half a worker", nil, map[string]string{"WORKERS": "1.5"}, 2, `WORKERS="1.5"`},
		{"too many connections", nil, map[string]string{"DATABASE_CONNECTIONS": "1001"}, 2, `DATABASE_CONNECTIONS="1001": set it to a whole number from 1 to 1000`},
		{"unknown store", nil, map[string]string{"STORE": "Postgres"}, 2, `STORE="Postgres": set it to memory, postgres or mongodb`},
		{"store without a URL", nil, map[string]string{"STORE": "postgres"}, 2, "DATABASE_URL is not set, and STORE=postgres needs it"},
		{"URL of the other store", nil, map[string]string{"STORE": "mongodb", "DATABASE_URL": "postgres://h/d"}, 2, "DATABASE_URL begins with none of mongodb://"},
		{"URL with a bad port", nil, map[string]string{"STORE": "postgres", "DATABASE_URL": "postgres://u:secret@h:p/d"}, 2, "DATABASE_URL: "},
		{"URL with a bad password", nil, map[string]string{"STORE": "mongodb", "DATABASE_URL": "mongodb://u:secret/secret@h"}, 2, "DATABASE_URL: "},
		{"port taken", []string{"--host", "127.0.0.1", "--port", port}, nil, 1, "address already in use"},
		{"help", []string{"--help"}, nil, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stderr bytes.Buffer
			code := run(t.Context(), c.args, environment(c.env), io.Discard, &stderr)
			if code != c.code || !strings.Contains(stderr.String(), c.want) {
				t.Errorf("exit code %d, standard error %q; want %d, %q", code, &stderr, c.code, c.want)
			}
			if lines := strings.Count(stderr.String(), "\n"); c.code != 0 && lines != 1 {
				t.Errorf("%d lines on standard error, want 1: %q", lines, &stderr)
			}
			if strings.Contains(stderr.String(), "secret") {
				t.Errorf("standard error shows a password: %q", &stderr)
			}
		})
	}
}

// absentDatabases are settings of stores without a database: nothing listens on the port.
func absentDatabases(t *testing.T) map[string]settings {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return map[string]settings{
		postgres: {store: postgres, database: "postgres://u:secret@" + address + "/d", connections: 2},
		mongodb:  {store: mongodb, database: "mongodb://" + address + "/d", connections: 2},
	}
}

func TestADatabaseThatDoesNotAnswer(t *testing.T) {
	for name, s := range absentDatabases(t) {
		t.Run(name, func(t *testing.T) {
			s.patience = 300 * time.Millisecond
			var stdout, stderr bytes.Buffer
			code := runBy(t.Context(), s, &stdout, &stderr)
			want := "millicore-go: " + name + " at DATABASE_URL has not answered within 300ms: "
			if code != 1 || !strings.HasPrefix(stderr.String(), want) || strings.Count(stderr.String(), "\n") != 1 {
				t.Errorf("exit code %d, standard error %q; want 1, one line that begins with %q", code, &stderr, want)
			}
			if !strings.Contains(stderr.String(), "refused") || strings.Contains(stderr.String(), "secret") {
				t.Errorf("standard error %q; want the reason, and no password", &stderr)
			}
			if stdout.Len() != 0 {
				t.Errorf("it prints %q and does not listen", &stdout)
			}
		})
	}
}

func TestASignalEndsTheWaitForADatabase(t *testing.T) {
	for name, s := range absentDatabases(t) {
		t.Run(name, func(t *testing.T) {
			s.patience = time.Hour
			ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer stop()
			var stderr bytes.Buffer
			if code := runBy(ctx, s, io.Discard, &stderr); code != 0 || stderr.Len() != 0 {
				t.Errorf("exit code %d, standard error %q; want 0 and no output", code, &stderr)
			}
		})
	}
}

// The handler of this test ends only when its connection is closed.
func TestServeClosesConnectionsAfterTheGrace(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	entered, left := make(chan struct{}), make(chan struct{})
	endless := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
		close(left)
	})
	ctx, stop := context.WithCancel(t.Context())
	var stderr bytes.Buffer
	served := make(chan error, 1)
	go func() { served <- serve(ctx, listener, netServer(endless), time.Millisecond, &stderr) }()

	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-entered
	stop()
	if err := <-served; err != nil {
		t.Errorf("serve: %v, want nil", err)
	}
	<-left
	if !strings.Contains(stderr.String(), "cut off") {
		t.Errorf("standard error %q does not report the closed connections", &stderr)
	}
}

func TestServeReportsAFailedListener(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if err := serve(t.Context(), listener, netServer(http.NotFoundHandler()), time.Minute, io.Discard); err == nil {
		t.Error("serve on a closed listener returned nil")
	}
}
