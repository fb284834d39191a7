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
	for _, c := range []struct {
		name string
		args []string
		env  map[string]string
		want settings
	}{
		{"nothing given", nil, nil, settings{":8080", false}},
		{"environment", nil, map[string]string{"HOST": "127.0.0.1", "PORT": "9"}, settings{"127.0.0.1:9", false}},
		{"flags win", []string{"--host", "::1", "--port=10"}, map[string]string{"HOST": "127.0.0.1", "PORT": "9"}, settings{"[::1]:10", false}},
		{"empty variables", nil, map[string]string{"HOST": "", "PORT": "", "PPROF": ""}, settings{":8080", false}},
		{"profiles on", nil, map[string]string{"PPROF": "1"}, settings{":8080", true}},
		{"profiles off", nil, map[string]string{"PPROF": "0"}, settings{":8080", false}},
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
		says string // on standard error
	}{
		{"unknown flag", []string{"--prot", "1"}, nil, 2, "-prot"},
		{"an argument", []string{"8080"}, nil, 2, `unexpected argument "8080"`},
		{"port is a word", []string{"--port", "http"}, nil, 2, `port "http"`},
		{"port too large", nil, map[string]string{"PORT": "65536"}, 2, `port "65536"`},
		{"PPROF is a word", nil, map[string]string{"PPROF": "true"}, 2, `PPROF="true"`},
		{"port taken", []string{"--host", "127.0.0.1", "--port", port}, nil, 1, "address already in use"},
		{"help", []string{"--help"}, nil, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stderr bytes.Buffer
			code := run(t.Context(), c.args, environment(c.env), io.Discard, &stderr)
			if code != c.code || !strings.Contains(stderr.String(), c.says) {
				t.Errorf("exit code %d, standard error %q; want %d, %q", code, &stderr, c.code, c.says)
			}
			if said := strings.Count(stderr.String(), "\n"); c.code != 0 && said != 1 {
				t.Errorf("%d lines on standard error, want 1: %q", said, &stderr)
			}
		})
	}
}

// TestServeCutsOffWhatOutlastsItsGrace has a handler that ends only when its
// connection is closed under it.
func TestServeCutsOffWhatOutlastsItsGrace(t *testing.T) {
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
	go func() { served <- serve(ctx, listener, endless, time.Millisecond, &stderr) }()

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
		t.Errorf("standard error %q does not tell of the cut", &stderr)
	}
}

func TestServeReportsAListenerThatFails(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if err := serve(t.Context(), listener, http.NotFoundHandler(), time.Minute, io.Discard); err == nil {
		t.Error("serve on a closed listener returned nil")
	}
}
