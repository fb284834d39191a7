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

// All three use about one CPU under more load than they hold. Only the scheduler's counters
// of their threads distinguish the busy one from a lock and from a pool.
func TestABusyThreadALockAndAPool(t *testing.T) {
	script := filepath.Join(t.TempDir(), "node.js")
	if err := os.WriteFile(script, []byte(node), 0o644); err != nil {
		t.Fatal(err)
	}
	server := `[SERVER, --port, "${port}"]`
	for _, c := range []struct {
		name, command, path string
		full                bool
	}{
		{"one busy thread", `[node, ` + strconv.Quote(script) + `, "${port}"]`, "/", true},
		{"a lock around its work", server, "/serial?us=2000", false},
		{"a pool that waits", server, "/pool?us=1000&ms=7", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, dir := run(t, `
name: threads
services: {server: {command: `+c.command+`}}
load: {request: {path: "`+c.path+`"}, users: 16}
measure: {warmup: 1s, duration: 5s, repeats: 1}`)
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
			threads := all.Server.Threads()
			t.Logf("%.2f CPUs, %+v", sums.Value(all.Server.Cores()), threads)
			if sums.Value(all.Server.Cores()) < 0.7 {
				t.Skip("others took its CPU")
			}
			if threads.Seconds < 4 || threads.Full > 1 || (threads.Full >= 0.9) != c.full {
				t.Errorf("%+v; is one busy: %v", threads, c.full)
			}
		})
	}
}
