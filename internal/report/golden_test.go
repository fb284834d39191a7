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
)

var update = flag.Bool("update", false, "write the golden files of testdata anew")

// TestFormsReadAsExpected holds each form against a file that was read by a
// person.
func TestFormsReadAsExpected(t *testing.T) {
	at := func(width int, colour bool) func(io.Writer, *analysis.Summary) error {
		return func(w io.Writer, s *analysis.Summary) error {
			return Table(w, s, display.Terminal{Width: width, Colour: colour})
		}
	}
	for name, c := range map[string]struct {
		data  Data
		write func(io.Writer, *analysis.Summary) error
	}{
		"comparison-wide.txt":    {procsFixture(), at(140, false)},
		"comparison-narrow.txt":  {procsFixture(), at(72, false)},
		"comparison-colours.txt": {procsFixture(), at(140, true)},
		"comparison-piped.txt":   {procsFixture(), at(0, false)},
		"ramp.txt":               {rampFixture(), at(120, false)},
		"scaled.txt":             {scaledFixture(), at(120, false)},
		"scaled.json":            {scaledFixture(), JSON},
		"failed.txt":             {failedFixture(), at(120, false)},
		"search-wide.txt":        {searchFixture(), at(120, false)},
		"search-narrow.txt":      {searchFixture(), at(72, false)},
		"profiles-wide.txt":      {withProfiles(searchFixture()), at(120, false)},
		"profiles-narrow.txt":    {withProfiles(searchFixture()), at(72, false)},
		"profiles.md":            {withProfiles(searchFixture()), Markdown},
		"search-colours.txt":     {searchFixture(), at(120, true)},
		"bounds.txt":             {boundsFixture(), at(120, false)},
		"search.md":              {searchFixture(), Markdown},
		"bounds.md":              {boundsFixture(), Markdown},
		"search.csv":             {searchFixture(), CSV},
		"bounds.csv":             {boundsFixture(), CSV},
		"bounds.json":            {boundsFixture(), JSON},
		"hostile.txt":            {hostileFixture(), at(120, false)},
		"runs-wide.txt":          {runsFixture(), at(120, false)},
		"runs-narrow.txt":        {runsFixture(), at(80, false)},
		"runs.md":                {runsFixture(), Markdown},
		"claims-wide.txt":        {withClaims(procsFixture()), at(120, false)},
		"claims-narrow.txt":      {withClaims(procsFixture()), at(80, false)},
		"claims-colours.txt":     {withClaims(procsFixture()), at(80, true)},
		"claims.md":              {withClaims(procsFixture()), Markdown},
		"comparison.md":          {procsFixture(), Markdown},
		"ramp.md":                {rampFixture(), Markdown},
		"failed.md":              {failedFixture(), Markdown},
		"hostile.md":             {hostileFixture(), Markdown},
		"comparison.csv":         {procsFixture(), CSV},
		"ramp.csv":               {rampFixture(), CSV},
		"failed.csv":             {failedFixture(), CSV},
		"failed.json":            {failedFixture(), JSON},
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := c.write(&got, c.data.Summary); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v; run go test -update and read what it writes", err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("differs from %s (-want +got):\n%s", file, diff)
			}
		})
	}
}

func TestJSONIsTheSummary(t *testing.T) {
	want := procsFixture().Summary
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
	for _, d := range []Data{hostileFixture(), foreign(procsFixture(), "a\x1b[31mb"), foreign(withProfiles(searchFixture()), "a\x1b[31mb")} {
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
		for _, d := range []Data{procsFixture(), rampFixture(), failedFixture(), withProfiles(searchFixture()), boundsFixture()} {
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
	if err := CSV(&text, procsFixture().Summary); err != nil {
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
