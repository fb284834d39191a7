package text

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/internal/show/report"
	"github.com/millicore/millicore/test/sample"
	"github.com/millicore/millicore/test/testkit/golden"
)

// records are one of each kind, with all kinds of blocks.
func records() map[string]results.Results {
	return map[string]results.Results{
		"comparison": sample.WithClaims(sample.Procs()), "ramp": sample.Ramp(), "scaled": sample.Scaled(), "runs": sample.Runs(), "failed": sample.Failed(),
		"search": sample.WithProfiles(sample.Search()), "bounds": sample.Bounds(), "benchmark": sample.Benchmarks(6), "few": sample.Benchmarks(2), "hostile": sample.Hostile(),
	}
}

// answerText is what a terminal shows by default.
func answerText(t *testing.T, d results.Results, as display.Terminal) string {
	t.Helper()
	return written(t, report.New(d.Summary).Blocks(), as)
}

// terminalText is what it shows with --details.
func terminalText(t *testing.T, d results.Results, as display.Terminal) string {
	t.Helper()
	return written(t, report.New(d.Summary).Whole(), as)
}

func written(t *testing.T, blocks []report.Block, as display.Terminal) string {
	t.Helper()
	var b bytes.Buffer
	if err := Terminal(&b, blocks, as); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func markdownText(t *testing.T, d results.Results) string {
	t.Helper()
	var b bytes.Buffer
	if err := Markdown(&b, report.New(d.Summary).Whole()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestTextsReadAsExpected compares texts with files that were read by a person.
func TestTextsReadAsExpected(t *testing.T) {
	all := records()
	for name, got := range map[string]string{
		"comparison.txt":    terminalText(t, all["comparison"], display.Terminal{Width: 140}),
		"comparison-80.txt": answerText(t, all["comparison"], display.Terminal{Width: 80}),
		"colours.txt":       terminalText(t, sample.Procs(), display.Terminal{Width: 140, Colour: true}),
		"search.txt":        terminalText(t, all["search"], display.Terminal{Width: 120}),
		"search-40.txt":     terminalText(t, sample.Search(), display.Terminal{Width: 40}),
		"ramp-80.txt":       answerText(t, all["ramp"], display.Terminal{Width: 80}),
		"runs-80.txt":       answerText(t, all["runs"], display.Terminal{Width: 80}),
		"benchmark-80.txt":  answerText(t, all["benchmark"], display.Terminal{Width: 80}),
		"failed.txt":        terminalText(t, all["failed"], display.Terminal{}),
		"comparison.md":     markdownText(t, all["comparison"]),
		"search.md":         markdownText(t, all["search"]),
	} {
		t.Run(name, func(t *testing.T) {
			golden.Check(t, name, got)
		})
	}
}

func TestNoLineIsWiderThanTheTerminal(t *testing.T) {
	for name, d := range records() {
		for _, limit := range []int{40, 60, 80, 100, 120, 160} {
			for line := range strings.Lines(terminalText(t, d, display.Terminal{Width: limit})) {
				if line = strings.TrimSuffix(line, "\n"); display.Width(line) > limit {
					t.Errorf("%s at %d columns: a line takes %d: %q", name, limit, display.Width(line), line)
				}
			}
		}
	}
}

// TestTablesStayTablesAt80Columns: what the table of cells is read for stays in it,
// and what it leaves out is named.
func TestTablesStayTablesAt80Columns(t *testing.T) {
	for name, want := range map[string][]string{
		"comparison": {"service", "procs", "requests", "p99", "available", "throttled", "objective"},
		"search":     {"service", "procs", "breaks at", "limited by", "p99", "throttled"},
		"bounds":     {"service", "breaks at", "limited by", "p99"},
		"benchmark":  {"service", "procs", "benchmark", "median", "unit"},
		"scaled":     {"service", "requests", "p99", "available"},
	} {
		t.Run(name, func(t *testing.T) {
			table := report.New(records()[name].Summary).Cells
			got := terminal{display.Terminal{Width: 80}}.table(table)
			heads, _, _ := strings.Cut(got, "\n")
			for _, head := range want {
				if !strings.Contains(heads, head) {
					t.Errorf("no column %q in %q", head, heads)
				}
			}
			_, left, _ := strings.Cut(strings.ReplaceAll(got, "\n", " "), "Left out at this width: ")
			for _, c := range table.Columns {
				if c.Rank < report.PageOnly && c.Kind != report.Flags && !strings.Contains(heads, c.Head) && !strings.Contains(left, c.Head) {
					t.Errorf("%q is neither in the table nor named as left out", c.Head)
				}
			}
		})
	}
}

func TestFiguresStandBelowOneAnother(t *testing.T) {
	got := aligned([]string{"130", "78.0", "0.190", display.Absent})
	want := []string{"130    ", "78.0  ", "0.190", display.Absent + "    "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTextCarriesNoEscapes(t *testing.T) {
	const red = "a\x1b[31mb"
	for name, d := range map[string]results.Results{
		"hostile": sample.Hostile(), "comparison": sample.Foreign(sample.WithClaims(sample.Procs()), red), "search": sample.Foreign(sample.WithProfiles(sample.Search()), red),
	} {
		for form, text := range map[string]string{"terminal": terminalText(t, d, display.Terminal{Width: 120}), "Markdown": markdownText(t, d)} {
			if strings.ContainsRune(text, '\x1b') {
				t.Errorf("%s: an escape sequence of the record reached the %s:\n%q", name, form, text)
			}
			if form == "Markdown" && strings.Contains(text, "<script") {
				t.Errorf("%s: an element of the record reached the Markdown:\n%s", name, text)
			}
		}
	}
}

// brokenPipe refuses what is written.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestTheErrorSaysWhatFailed(t *testing.T) {
	blocks := report.New(sample.Procs().Summary).Blocks()
	for name, err := range map[string]error{"terminal": Terminal(brokenPipe{}, blocks, display.Terminal{}), "Markdown": Markdown(brokenPipe{}, blocks)} {
		if err == nil || !strings.Contains(err.Error(), "write the report: broken pipe") {
			t.Errorf("%s: %v; want what was written, and why it failed", name, err)
		}
	}
}
