package program

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// beside is node beside a worker thread that waits for a cell to change: it spins, or looks
// each 20 ms and computes for 4 of them.
const beside = `
const { Worker, isMainThread, workerData } = require('node:worker_threads')
const compute = (us) => {
  const until = process.hrtime.bigint() + BigInt(1000 * us)
  while (process.hrtime.bigint() < until) {}
}
if (isMainThread) {
  new Worker(__filename, { workerData: process.argv[3] })
  require('node:http').createServer((req, res) => {
    compute(2000)
    res.end('hello\n')
  }).listen(+process.argv[2], '127.0.0.1')
} else if (workerData === 'spins') {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  while (Atomics.load(cell, 0) === 0) {}
} else {
  setInterval(() => compute(4000), 20)
}
`

// A thread that waits busily is named beside the limit that it uses up, and a timer is not.
func TestAThreadThatWaitsBusily(t *testing.T) {
	script := filepath.Join(t.TempDir(), "beside.js")
	if err := os.WriteFile(script, []byte(beside), 0o644); err != nil {
		t.Fatal(err)
	}
	for how, want := range map[string]bool{"spins": true, "sleeps": false} {
		t.Run(how, func(t *testing.T) {
			s, _ := run(t, `
name: beside
services: {node: {command: [node, `+strconv.Quote(script)+`, "${port}", `+how+`], limits: {cpu: 800m}}}
load: {request: {path: /}, find: breaking-point}
measure: {warmup: 2s, duration: 25s, repeats: 1}
objective: {p99: 100ms}`)
			b := s.Cells[0].Breaking
			if b == nil || b.LimitedBy == "" {
				t.Fatalf("no breaking point: %+v", b)
			}
			if got := strings.Contains(b.Evidence, "threads that never sleep"); got != want {
				t.Errorf("%s: %v, want %v", b.Evidence, got, want)
			}
		})
	}
}
