package program

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
)

// node computes for 2 ms in its only thread for each request.
const node = `
require('node:http').createServer((req, res) => {
  const until = process.hrtime.bigint() + 2000000n
  while (process.hrtime.bigint() < until) {}
  res.end('hello\n')
}).listen(+process.argv[2], '127.0.0.1')
`

// All three use about one CPU under more load than they hold. A thread is busy if one is all
// the time there, and has as much to do for each request at a low load. A lock of Go's may
// have the first sign, not the second.
func TestABusyThreadALockAndAPool(t *testing.T) {
	script := filepath.Join(t.TempDir(), "node.js")
	if err := os.WriteFile(script, []byte(node), 0o644); err != nil {
		t.Fatal(err)
	}
	server := `[SERVER, --port, "${port}"]`
	for _, c := range []struct {
		name, command, path string
		busy                bool
	}{
		{"one busy thread", `[node, ` + strconv.Quote(script) + `, "${port}"]`, "/", true},
		{"a lock around its work", server, "/serial?us=2000", false},
		{"a pool that waits", server, "/pool?us=1000&ms=7", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			under := func(load string) (threads sums.Threads, perRequest float64) {
				_, dir := run(t, `
name: threads
services: {server: {command: `+c.command+`}}
load: {request: {path: "`+c.path+`"}, `+load+`}
measure: {warmup: 1s, duration: 5s, repeats: 1}`)
				all := framesOf(t, dir)
				threads = all.Server.Threads()
				perRequest = threads.Top / sums.Value(all.Client.Rate())
				t.Logf("%s: %.2f CPUs, %+v, %.2f ms for each request", load, sums.Value(all.Server.Cores()), threads, 1e3*perRequest)
				if load == overload && sums.Value(all.Server.Cores()) < 0.7 {
					t.Skip("others took its CPU")
				}
				return threads, perRequest
			}
			_, low := under("rate: 80")
			threads, over := under(overload)
			if threads.Seconds < 4 || (threads.Full >= 0.9 && low >= 0.75*over) != c.busy {
				t.Errorf("%+v, and %.2f of its work for a request at a low load; is one busy: %v", threads, low/over, c.busy)
			}
		})
	}
}

const overload = "users: 16"

// framesOf sums the frames of a record.
func framesOf(t *testing.T, dir string) *sums.Total {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, record.FramesFile))
	if err != nil {
		t.Fatal(err)
	}
	all := sums.New()
	for line := range bytes.Lines(text) {
		var f signals.Frame
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatal(err)
		}
		all.Add(&f, "server")
	}
	return all
}
