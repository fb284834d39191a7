package program

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/millicore/millicore/test/testkit"
)

// A server that this test runs gets the requests of a log in the order of their times.
func TestReplayOfAnAccessLog(t *testing.T) {
	testkit.Long(t, "a whole program under load")
	var mu sync.Mutex
	var came []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		came = append(came, r.Method+" "+r.RequestURI)
	}))
	defer server.Close()
	var log strings.Builder
	var want []string
	for i := range 200 {
		method := []string{"GET", "HEAD", "GET"}[i%3]
		at := fmt.Sprintf("2026-11-29T10:20:%02d.%03dZ", i/100, i%100*10)
		fmt.Fprintf(&log, "[%s] \"%s /n/%d?q={{seq}} HTTP/1.1\" 200 - 0 1 4 1\n[%s] \"POST /n HTTP/1.1\" 201 - 0 1 4 1\n", at, method, i, at)
		want = append(want, fmt.Sprintf("%s /n/%d?q={{seq}}", method, i))
	}
	lines := strings.SplitAfter(log.String(), "\n")
	lines[0], lines[200] = lines[200], lines[0] // the log need not be in order
	file := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	// On one connection requests arrive in the order in which they are sent.
	r := load(t, 0, "--replay", file, "--speed", "2", "--connections", "1", server.URL)
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(came, want) {
		t.Errorf("%d requests came, want %d in order:\n%q", len(came), len(want), came)
	}
	if r.Requests != 200 || r.Replay.Sent != 200 || r.Replay.Lines != 400 || r.Replay.Speed != 2 || r.Replay.Skipped[0].Count != 200 {
		t.Errorf("%d requests, %+v", r.Requests, r.Replay)
	}
}
