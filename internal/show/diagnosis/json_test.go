package diagnosis_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

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
	var b bytes.Buffer
	if err := diagnosis.JSON(&b, host, doctor.Examine(host)); err != nil {
		t.Fatal(err)
	}
	var got map[string][]map[string]any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || len(got["processes"]) != 3 || len(got["findings"]) != 1 {
		t.Fatalf("got %s", b.String())
	}
	f := got["findings"][0]
	if len(f) != 9 || f["level"] != "critical" || f["pid"] != 42.0 || f["title"] == "" || f["evidence"] == "" ||
		f["fix"] != "try GOMAXPROCS=2; verify: millicore try --cpu 2 --memory 256Mi --env GOMAXPROCS=8 -- /app/api --port 80" {
		t.Errorf("finding: %v", f)
	}
	first := got["processes"][0]
	cpu, throttling := first["cpu"].(map[string]any), first["throttling"].(map[string]any)
	if cpu["limit"] != 2.0 || cpu["state"] != "limited" || throttling["watch"].(map[string]any)["throttled_periods"] != 157.0 {
		t.Errorf("process: %v", first)
	}
	for i, other := range got["processes"] { // no key is missing in any
		if diff := cmp.Diff(slices.Sorted(maps.Keys(first)), slices.Sorted(maps.Keys(other))); diff != "" {
			t.Errorf("process %d: -want +got\n%s", i, diff)
		}
	}
	// What was not measured is null, and never 0.
	h := got["processes"][1]
	if limit, ok := h["cpu"].(map[string]any)["limit"]; !ok || limit != nil || h["parallelism"] != nil || h["user"] != nil || h["throttling"] != nil {
		t.Errorf("a process that could not be seen: %v", h)
	}
}

func TestJSONOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := diagnosis.JSON(&b, inspect.Host{}, nil); err != nil || strings.Join(strings.Fields(b.String()), " ") != `{ "processes": [], "findings": [] }` {
		t.Errorf("got %s, %v", b.String(), err)
	}
}
