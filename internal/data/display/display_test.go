package display

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFigureKeepsThreeDigits(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.00004: "0.000", 0.19: "0.190", 0.9994: "0.999", 0.9996: "1.00", 1.234: "1.23", 9.994: "9.99", 9.996: "10.0",
		78: "78.0", 99.94: "99.9", 99.96: "100", 154.5: "155", 373.4: "373", 1460: "1,460", 28893.18: "28,893", 1234567: "1,234,567",
		-1234: "−1,234", -0.00004: "0.000", math.Inf(-1): "−∞", math.NaN(): Absent,
	} {
		if got := Figure(v); got != want {
			t.Errorf("Figure(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestGroupedSetsCommas(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -123456: "−123,456", math.MinInt64: "−9,223,372,036,854,775,808"} {
		if got := Grouped(n); got != want {
			t.Errorf("Grouped(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestSignedSaysWhichWay(t *testing.T) {
	for _, c := range []struct {
		v        float64
		decimals int
		want     string
	}{{0, 1, "0.0"}, {0.04, 1, "0.0"}, {-0.04, 1, "0.0"}, {2.5, 1, "+2.5"}, {-2.5, 1, "−2.5"}, {12345, 0, "+12,345"}} {
		if got := Signed(c.v, c.decimals); got != c.want {
			t.Errorf("Signed(%v, %d) = %q, want %q", c.v, c.decimals, got, c.want)
		}
	}
}

func TestClockCountsSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0:00", 400 * time.Millisecond: "0:00", 5 * time.Second: "0:05", 75 * time.Second: "1:15", time.Hour + 61*time.Second: "1:01:01",
	} {
		if got := Clock(d); got != want {
			t.Errorf("Clock(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestChanceIsNeverNothing(t *testing.T) {
	for p, want := range map[float64]string{0: "<0.001", 0.0021: "0.002", 0.0499: "0.050", 0.31: "0.31", 1: "1.00"} {
		if got := Chance(p); got != want {
			t.Errorf("Chance(%v) = %q, want %q", p, got, want)
		}
	}
}

func TestExactHasAllDigitsOrNothing(t *testing.T) {
	for v, want := range map[float64]string{1234.5678901: "1234.5678901", 1e21: "1000000000000000000000", math.Inf(1): "", math.NaN(): ""} {
		if got := Exact(&v); got != want {
			t.Errorf("Exact(%v) = %q, want %q", v, got, want)
		}
	}
	if got := Exact(nil); got != "" {
		t.Errorf("Exact(nil) = %q", got)
	}
}

func TestPlainIsOneLineThatATerminalOnlyShows(t *testing.T) {
	for in, want := range map[string]string{
		"go":                          "go",
		"\x1b[31mred\x1b[0m":          "␛[31mred␛[0m",
		"a\nb\tc\u00a0d":              "a b c d",
		"a\r\nb":                      "a b",
		"over\rwritten":               "over␍written",
		"\u202eevil":                  "<U+202E>evil",
		"\x1b]0;title\x07text":        "␛]0;title␇text",
		"bell\x07, null\x00, del\x7f": "bell␇, null␀, del␡",
		"Grüße, 世界":                   "Grüße, 世界",
	} {
		if got := Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
}

// Two names that differ look different: an author of a record cannot make one cell look
// like another by a character that has no shape.
func TestPlainKeepsNamesApart(t *testing.T) {
	for _, other := range []string{"g\u200bo", "go\x1b[0m", "\ufeffgo", "go\x00"} {
		if Plain(other) == Plain("go") {
			t.Errorf("%q looks like go", other)
		}
	}
}

func TestEscapedShowsTextAsItIs(t *testing.T) {
	for in, want := range map[string]string{
		"go procs=1":         "go procs=1",
		"<b>*bold*</b> | `x": "&lt;b&gt;\\*bold\\*&lt;/b&gt; \\| \\`x",
		"a\n# b":             "a # b",
		"a_b [c](d) & \\":    `a\_b \[c\](d) &amp; \\`,
	} {
		if got := Escaped(in); got != want {
			t.Errorf("Escaped(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzForeignTextStaysOnItsLine(f *testing.F) {
	for _, text := range []string{"go", "\x1b[31mred", "a\nb", "\u2028", "\x9b31m", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Plain(text)
		if strings.ContainsAny(got, "\x1b\n\r\u2028\u2029\u0085\x07") {
			t.Errorf("Plain(%q) = %q", text, got)
		}
		if again := Plain(got); again != got {
			t.Errorf("Plain(%q) = %q, and of that %q", text, got, again)
		}
	})
}

func TestCapitalLeavesNames(t *testing.T) {
	for in, want := range map[string]string{"": "", "a": "A", "the rate": "The rate", "p99 is": "p99 is", "élan": "Élan"} {
		if got := Capital(in); got != want {
			t.Errorf("Capital(%q) = %q, want %q", in, got, want)
		}
	}
}

func columns() []Column {
	return []Column{
		{Head: "cell", Left: true, Cells: []string{"go|1", "bun"}},
		{Head: "p99\nms", Cells: []string{"130", "78.0"}, Tone: func(row int) Tone { return []Tone{Normal, Bad}[row] }},
	}
}

func TestTableAlignsItsColumns(t *testing.T) {
	want := "cell   p99\n        ms\ngo|1   130\nbun   78.0\n"
	if diff := cmp.Diff(want, Terminal{}.Table(columns())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := (Terminal{Colour: true}).Table(columns()); !strings.Contains(got, "\x1b[31m78.0") || strings.Contains(got, "31mgo") {
		t.Errorf("with colours: %q", got)
	}
}

func TestTableFitsWhereItHasRoom(t *testing.T) {
	for width, want := range map[int]bool{0: true, 10: true, 9: false} {
		if got := (Terminal{Width: width}).Fits(columns()); got != want {
			t.Errorf("in %d columns: %v, want %v", width, got, want)
		}
	}
}

func TestMarkdownTableIsEscaped(t *testing.T) {
	want := "| cell | p99 ms |\n| --- | ---: |\n| go\\|1 | 130 |\n| bun | 78.0 |\n"
	if diff := cmp.Diff(want, MarkdownTable(columns())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWrapKeepsItsIndent(t *testing.T) {
	if got, want := (Terminal{Width: 24}).Wrap("one two three four five six", "  "), "  one two three four\n  five six"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := (Terminal{Width: 40}).Wrap("a start with the setting OPTIONS=-XX:ActiveProcessorCount=2", ""), "a start with the setting\nOPTIONS=-XX:ActiveProcessorCount=2"; got != want {
		t.Errorf("%q, want %q: a setting is whole", got, want)
	}
	if got := (Terminal{}).Wrap("one two three four five six", ""); strings.Contains(got, "\n") {
		t.Errorf("without a limit it is broken: %q", got)
	}
}

func TestPaintLeavesTextPlainWithoutColours(t *testing.T) {
	if got := (Terminal{}).Paint("a\nb", Bad); got != "a\nb" {
		t.Errorf("%q", got)
	}
	if got := (Terminal{Colour: true}).Paint("a\nb", Bad); strings.Count(got, "\x1b[31m") != 2 {
		t.Errorf("each line is painted by itself: %q", got)
	}
}

func TestNoTerminalHasNoColours(t *testing.T) {
	for columns, want := range map[string]int{"": unknownWidth, "80": 80, "0": unknownWidth, "wide": unknownWidth} {
		t.Setenv("COLUMNS", columns)
		if got := TerminalOf(new(strings.Builder)); got.Colour || got.Width != want {
			t.Errorf("COLUMNS=%q: %+v, want a width of %d", columns, got, want)
		}
	}
}

// A latency beyond the histograms' range reads as a lower bound.
func TestLatenciesBeyondTheRange(t *testing.T) {
	for _, c := range []struct {
		ms           float64
		plain, words string
	}{
		{1.5, "1.50", "1.50 ms"},
		{75_000, "75,000", "75.0 s"},
		{3_600_809.983, "3,600,810", "3,601 s"}, // cannot be distinguished from an hour
		{3_602_907.135, "> 3,600,000", "> 3,600 s"},
	} {
		if plain, words := Milliseconds(c.ms), WithUnit(c.ms); plain != c.plain || words != c.words {
			t.Errorf("%v: %q, %q; want %q, %q", c.ms, plain, words, c.plain, c.words)
		}
	}
	if some, none := MeanMilliseconds(1.5, 1), MeanMilliseconds(1.5, 0); some != "> 1.50" || none != "1.50" {
		t.Errorf("means: %q, %q", some, none)
	}
}
