package diagnosis_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/show/diagnosis"
)

func TestJSON(t *testing.T) {
	p := goService(8, 2, 0.95, 157)
	p.Port, p.Ruled, p.Info.Env = 0, 8, map[string]string{"GOMAXPROCS": "8"}
	p.Memory = inspect.Memory{State: inspect.Limited, Limit: 256 << 20, SetBy: "/pods/api"}
	hidden := inspect.Process{PID: 7, Name: "hidden", User: -1, Info: runtimes.Info{Runtime: runtimes.Unknown}, CPU: inspect.CPULimit{State: inspect.Unlimited}}
	host := host(p, hidden, hidden)
	run := diagnosis.Run{Host: "node-1", Time: time.Date(2026, 11, 28, 13, 14, 15, 99, time.FixedZone("CET", 3600)), Version: "v1.2.3"}
	var b bytes.Buffer
	if err := diagnosis.JSON(&b, host, doctor.Examine(host), diagnosis.View{Run: run}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Processes, Findings []map[string]any
	}
	var top map[string]any
	for _, to := range []any{&got, &top} {
		if err := json.Unmarshal(b.Bytes(), to); err != nil {
			t.Fatal(err)
		}
	}
	delete(top, "processes")
	delete(top, "findings")
	if diff := cmp.Diff(map[string]any{"schema": 2.0, "host": "node-1", "time": "2026-11-28T12:14:15Z", "version": "v1.2.3", "watch_seconds": 10.0, "baseline": nil, "suppressed": 0.0, "nodes": nil}, top); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if len(got.Processes) != 3 || len(got.Findings) != 1 {
		t.Fatalf("got %s", b.String())
	}
	f := got.Findings[0]
	if evidence, ok := f["evidence"].([]any); !ok || len(evidence) != 4 || f["title"] == "" {
		t.Errorf("finding: %v", f)
	}
	delete(f, "evidence")
	delete(f, "title")
	const stops = "more threads than the limit has CPUs use the quota up early; then the kernel stops all threads until the next period, " +
		"and the requests in work and those that arrive wait"
	want := map[string]any{
		"rule": "parallelism-above-limit", "level": "critical", "since": nil, "fingerprint": "1b85adb902ec", "service": "api", "node": nil, "pid": 42.0, "name": "api",
		"fix":       []any{"try GOMAXPROCS=2", "verify: millicore try --cpu 2 --memory 256Mi --env GOMAXPROCS=8 -- /app/api --port 80"},
		"mechanism": stops, "expected": map[string]any{"saturated": "lower p99, about the same throughput", "at_60_percent": "little change"}, "confidence": "medium",
		"figures": map[string]any{
			"cpu_limit": 2.0, "parallelism": 8.0, "used_share": 0.95, "throttled_share": 157.0 / 412, "periods": 412.0, "throttled_periods": 157.0, "throttled_ms_each": 41.0,
			"memory_limit_bytes": 256.0 * (1 << 20), "working_set_bytes": nil, "unreclaimable_bytes": nil, "memory_stalled_share": nil, "oom_kills": nil,
		},
		"changes": []any{map[string]any{"env": map[string]any{"GOMAXPROCS": "2"}, "command": nil, "cpu_limit": nil, "burst_ms": nil, "memory_limit_bytes": nil,
			"more_replicas": false, "setting": nil, "set_in": nil, "value": 2.0, "value_text": nil}},
	}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	first := got.Processes[0]
	cpu, throttling := first["cpu"].(map[string]any), first["throttling"].(map[string]any)
	if cpu["limit"] != 2.0 || cpu["state"] != "limited" || throttling["watch"].(map[string]any)["throttled_periods"] != 157.0 {
		t.Errorf("process: %v", first)
	}
	for i, other := range got.Processes { // no key is missing in any
		if diff := cmp.Diff(slices.Sorted(maps.Keys(first)), slices.Sorted(maps.Keys(other))); diff != "" {
			t.Errorf("process %d: -want +got\n%s", i, diff)
		}
	}
	// What was not measured is null, and never 0.
	h := got.Processes[1]
	if limit, ok := h["cpu"].(map[string]any)["limit"]; !ok || limit != nil || h["parallelism"] != nil || h["user"] != nil || h["throttling"] != nil {
		t.Errorf("a process that could not be seen: %v", h)
	}
}

func TestJSONOfNothing(t *testing.T) {
	var b bytes.Buffer
	const want = `{ "schema": 2, "host": null, "time": "0001-01-01T00:00:00Z", "version": "v1", "watch_seconds": 0, "baseline": null, "suppressed": 0, "nodes": null, "processes": [], "findings": [] }`
	if err := diagnosis.JSON(&b, inspect.Host{}, nil, diagnosis.View{Run: diagnosis.Run{Version: "v1"}}); err != nil || strings.Join(strings.Fields(b.String()), " ") != want {
		t.Errorf("got %s, %v", b.String(), err)
	}
}
