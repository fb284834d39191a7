package facts

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// mangle makes of a complete record one that the simulation does not write: one that was
// interrupted, or one whose second service was not available.
func mangle(t *testing.T, name, dir string) {
	t.Helper()
	switch name {
	case "interrupted": // in the eighth trial, of which an interval was measured
		rewrite(t, filepath.Join(dir, "trials.ndjson"), func(line map[string]any) bool {
			n := line["trial"].(float64)
			return n >= 1 && n < 8 || n == 8 && line["outcome"] == "started"
		})
		for _, file := range []string{"frames", "windows", "slow"} {
			rewrite(t, filepath.Join(dir, file+".ndjson"), func(line map[string]any) bool {
				seq, _ := line["seq"].(float64)
				return line["trial"].(float64) < 8 || line["trial"].(float64) == 8 && file == "frames" && seq < 4
			})
		}
	case "skipped":
		path := filepath.Join(dir, "run.json")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		run := map[string]any{}
		if err := json.Unmarshal(data, &run); err != nil {
			t.Fatal(err)
		}
		run["skipped"] = []any{map[string]any{"service": "b", "reason": "it is not installed"}}
		var plan []any
		for _, p := range run["plan"].([]any) {
			if p.(map[string]any)["cell"].(float64) == 0 {
				plan = append(plan, p)
			}
		}
		run["plan"] = plan
		if data, err = json.Marshal(run); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"trials", "frames", "windows", "slow"} {
			rewrite(t, filepath.Join(dir, file+".ndjson"), func(line map[string]any) bool { return line["cell"].(float64) == 0 })
		}
	}
}

// rewrite keeps some lines of a file.
func rewrite(t *testing.T, path string, keep func(map[string]any) bool) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, text := range bytes.SplitAfter(data, []byte("\n")) {
		line := map[string]any{}
		if json.Unmarshal(text, &line) == nil && keep(line) {
			out.Write(text)
		}
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
