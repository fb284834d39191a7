package main

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/base/exit"
	"github.com/millicore/millicore/internal/kubernetes/nodeagent"
	"github.com/millicore/millicore/internal/kubernetes/tunnel"
	"github.com/millicore/millicore/test/testkit"
)

// conductor is one that answers a node agent with a handler, and the flags that
// lead to it.
func conductor(t *testing.T, h http.HandlerFunc) []string {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	dir := t.TempDir()
	put := func(name string, text []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	return []string{
		"--conductor", s.Listener.Addr().String(), "--cgroup", "/sys/fs/cgroup", "--token-file", put("token", []byte("secret\n")),
		"--certificate", put("tls.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})),
	}
}

func env(name string) string { return map[string]string{"NODE_NAME": "worker-1"}[name] }

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		env  func(string) string
		code int
		want string
	}{
		{[]string{"--help"}, env, 0, "default: $NODE_NAME"},
		{nil, env, exit.Usage, "--conductor, --certificate and --token-file are needed"},
		{[]string{"--conductor", "a:1", "--certificate", "c", "--token-file", "t"}, func(string) string { return "" }, exit.Usage, "NODE_NAME"},
		{[]string{"serve"}, env, exit.Usage, "there are no arguments"},
		{[]string{"--node", "x"}, env, exit.Usage, "not defined"},
	} {
		var output strings.Builder
		if code := run(t.Context(), c.args, c.env, &output, &output); code != c.code || !strings.Contains(output.String(), c.want) {
			t.Errorf("%q: code %d and %q, want %d and %q", c.args, code, output.String(), c.code, c.want)
		}
	}
}

func TestItEndsWellWhenTheRunIsOver(t *testing.T) {
	var path, token string
	args := conductor(t, func(w http.ResponseWriter, r *http.Request) {
		path, token = r.URL.Path, r.Header.Get(tunnel.TokenHeader)
		http.Error(w, "the run is over", http.StatusGone)
	})
	var output strings.Builder
	if code := run(t.Context(), args, env, &output, &output); code != 0 || output.String() != "" {
		t.Errorf("code %d: %s", code, output.String())
	}
	if path != "/node/worker-1" || token != "secret" {
		t.Errorf("it dialled %s with the token %q", path, token)
	}
}

func TestItFailsWhereItIsRefused(t *testing.T) {
	args := conductor(t, func(w http.ResponseWriter, r *http.Request) { http.Error(w, "whose token?", http.StatusForbidden) })
	var output strings.Builder
	if code := run(t.Context(), args, env, &output, &output); code != exit.Failed || !strings.Contains(output.String(), "whose token?") {
		t.Errorf("code %d: %s", code, output.String())
	}
}

// It serves one stream after another, and ends immediately on a signal.
func TestItServesStreams(t *testing.T) {
	streams := make(chan net.Conn)
	args := conductor(t, func(w http.ResponseWriter, r *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprintf(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", tunnel.Upgrade)
		if err := tunnel.Go(c); err != nil {
			t.Error(err)
		}
		streams <- c
	})
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() { code <- run(ctx, args, env, io.Discard, io.Discard) }()
	for range 2 {
		c := nodeagent.NewClient(<-streams, 0)
		w := c.Watch("0123456789ab", "", 0, 0)
		testkit.Until(t, "a container that is not there cannot be read", func() bool {
			_, err := w.Counters()
			if err == nil {
				t.Fatal("counters of a container that is not there")
			}
			return strings.Contains(err.Error(), "cannot read container")
		})
		c.Close()
	}
	last := nodeagent.NewClient(<-streams, 0)
	cancel()
	if got := <-code; got != 0 {
		t.Errorf("code %d after a signal", got)
	}
	<-last.Done()
}
