package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/report/sample"
	"github.com/millicore/millicore/internal/results"
)

var update = flag.Bool("update", false, "write the golden files of testdata")

// TestFormsReadAsExpected holds each form against a file that was read by a
// person.
func TestFormsReadAsExpected(t *testing.T) {
	at := func(width int, colour bool) func(io.Writer, *analysis.Summary) error {
		return func(w io.Writer, s *analysis.Summary) error {
			return Table(w, s, display.Terminal{Width: width, Colour: colour})
		}
	}
	for name, c := range map[string]struct {
		data  results.Results
		write func(io.Writer, *analysis.Summary) error
	}{
		"comparison-wide.txt":    {sample.Procs(), at(140, false)},
		"comparison-narrow.txt":  {sample.Procs(), at(72, false)},
		"comparison-colours.txt": {sample.Procs(), at(140, true)},
		"comparison-piped.txt":   {sample.Procs(), at(0, false)},
		"ramp.txt":               {sample.Ramp(), at(120, false)},
		"scaled.txt":             {sample.Scaled(), at(120, false)},
		"scaled.json":            {sample.Scaled(), JSON},
		"failed.txt":             {sample.Failed(), at(120, false)},
		"search-wide.txt":        {sample.Search(), at(120, false)},
		"search-narrow.txt":      {sample.Search(), at(72, false)},
		"profiles-wide.txt":      {sample.WithProfiles(sample.Search()), at(120, false)},
		"profiles-narrow.txt":    {sample.WithProfiles(sample.Search()), at(72, false)},
		"profiles.md":            {sample.WithProfiles(sample.Search()), Markdown},
		"search-colours.txt":     {sample.Search(), at(120, true)},
		"bounds.txt":             {sample.Bounds(), at(120, false)},
		"search.md":              {sample.Search(), Markdown},
		"bounds.md":              {sample.Bounds(), Markdown},
		"search.csv":             {sample.Search(), CSV},
		"bounds.csv":             {sample.Bounds(), CSV},
		"bounds.json":            {sample.Bounds(), JSON},
		"hostile.txt":            {sample.Hostile(), at(120, false)},
		"runs-wide.txt":          {sample.Runs(), at(120, false)},
		"runs-narrow.txt":        {sample.Runs(), at(80, false)},
		"runs.md":                {sample.Runs(), Markdown},
		"claims-wide.txt":        {sample.WithClaims(sample.Procs()), at(120, false)},
		"claims-narrow.txt":      {sample.WithClaims(sample.Procs()), at(80, false)},
		"claims-colours.txt":     {sample.WithClaims(sample.Procs()), at(80, true)},
		"claims.md":              {sample.WithClaims(sample.Procs()), Markdown},
		"comparison.md":          {sample.Procs(), Markdown},
		"ramp.md":                {sample.Ramp(), Markdown},
		"failed.md":              {sample.Failed(), Markdown},
		"hostile.md":             {sample.Hostile(), Markdown},
		"comparison.csv":         {sample.Procs(), CSV},
		"ramp.csv":               {sample.Ramp(), CSV},
		"failed.csv":             {sample.Failed(), CSV},
		"failed.json":            {sample.Failed(), JSON},
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := c.write(&got, c.data.Summary); err != nil {
				t.Fatal(err)
			}
			golden(t, name, got.String())
		})
	}
}

// golden compares a text with a file of testdata, or writes the file with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run go test -update and read what it writes", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("differs from %s (-want +got):\n%s", file, diff)
	}
}

func TestJSONIsTheSummary(t *testing.T) {
	want := sample.Procs().Summary
	var text bytes.Buffer
	if err := JSON(&text, want); err != nil {
		t.Fatal(err)
	}
	var got analysis.Summary
	if err := json.Unmarshal(text.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	got.Host, want.Host = nil, nil // a map of other number types
	if diff := cmp.Diff(want, &got); diff != "" {
		t.Errorf("the summary read again differs (-want +got):\n%s", diff)
	}
}

func TestTextCarriesNoEscapes(t *testing.T) {
	for _, d := range []results.Results{sample.Hostile(), foreign(sample.Procs(), "a\x1b[31mb"), foreign(sample.WithProfiles(sample.Search()), "a\x1b[31mb")} {
		var table, markdown bytes.Buffer
		if err := errors.Join(Table(&table, d.Summary, display.Terminal{Width: 120}), Markdown(&markdown, d.Summary)); err != nil {
			t.Fatal(err)
		}
		for form, text := range map[string]string{"terminal": table.String(), "Markdown": markdown.String()} {
			if strings.ContainsRune(text, '\x1b') {
				t.Errorf("an escape sequence of the record reached the %s:\n%q", form, text)
			}
		}
	}
}

func TestNoLineIsWiderThanTheTerminal(t *testing.T) {
	for _, limit := range []int{40, 60, 80, 100, 120, 160} {
		for _, d := range []results.Results{sample.Procs(), sample.Ramp(), sample.Failed(), sample.WithProfiles(sample.Search()), sample.Bounds()} {
			var text bytes.Buffer
			if err := Table(&text, d.Summary, display.Terminal{Width: limit}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(text.String()) {
				if line = strings.TrimSuffix(line, "\n"); display.Width(line) > limit {
					t.Errorf("%s at %d columns: a line takes %d: %q", d.Summary.Experiment.Name, limit, display.Width(line), line)
				}
			}
		}
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
