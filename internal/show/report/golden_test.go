package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/test/sample"
	"github.com/millicore/millicore/test/testkit/golden"
)

// TestFormsForPrograms compares CSV and JSON with files that were read by a person.
func TestFormsForPrograms(t *testing.T) {
	for name, c := range map[string]struct {
		data  results.Results
		write func(io.Writer, *summary.Summary) error
	}{
		"comparison.csv": {sample.Procs(), CSV},
		"search.csv":     {sample.Search(), CSV},
		"bounds.csv":     {sample.Bounds(), CSV},
		"ramp.csv":       {sample.Ramp(), CSV},
		"failed.csv":     {sample.Failed(), CSV},
		"failed.json":    {sample.Failed(), JSON},
		"bounds.json":    {sample.Bounds(), JSON},
		"scaled.json":    {sample.Scaled(), JSON},
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := c.write(&got, c.data.Summary); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, name, got.String())
		})
	}
}

func TestJSONIsTheSummary(t *testing.T) {
	want := sample.Procs().Summary
	var text bytes.Buffer
	if err := JSON(&text, want); err != nil {
		t.Fatal(err)
	}
	var got summary.Summary
	if err := json.Unmarshal(text.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, &got); diff != "" {
		t.Errorf("the summary read again differs (-want +got):\n%s", diff)
	}
}

// TestCSVColumnsStay guards the names that sheets and scripts rely on: columns
// may be added, but none may go or change its name.
func TestCSVColumnsStay(t *testing.T) {
	var text bytes.Buffer
	if err := CSV(&text, sample.Procs().Summary); err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(text.String(), "\n")
	for _, name := range []string{"cell", "label", "service", "cpu_limit_millis", "memory_limit_bytes", "rate_rps", "availability_percent",
		"latency_p50_ms", "latency_p99_ms", "latency_p999_ms", "periods", "throttled_periods", "throttled_ms", "memory_peak_bytes", "flags", "vary_procs",
		"breaking_point_rps", "breaking_point_low", "breaking_point_high", "breaking_point_at_least", "limited_by", "knee_load", "knee_of_limit",
		"tail_throttling", "tail_rest", "compared_shift", "compared_p_holm"} {
		if !strings.Contains(","+head+",", ","+name+",") {
			t.Errorf("no column %q in %s", name, head)
		}
	}
}

// brokenPipe refuses what is written.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestTheErrorSaysWhatFailed(t *testing.T) {
	s := sample.Procs().Summary
	for name, err := range map[string]error{"JSON": JSON(brokenPipe{}, s), "CSV": CSV(brokenPipe{}, s)} {
		if err == nil || !strings.Contains(err.Error(), "cpu-limits-and-go") || !strings.Contains(err.Error(), "broken pipe") {
			t.Errorf("%s: %v; want what was written, and why it failed", name, err)
		}
	}
}
