package compare

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/report/text"
)

func table(t *testing.T, r *Result, width int) string {
	t.Helper()
	var b bytes.Buffer
	if err := text.Terminal(&b, r.Blocks(false), display.Terminal{Width: width}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTableReadsAsExpected(t *testing.T) {
	r := one(t, quick, slow)
	bound, err := ParseBound("p99>+10%")
	if err != nil {
		t.Fatal(err)
	}
	r.Judge([]Bound{bound}, false)
	want := `p99 is 4.2 times as high in B: 166 → 704 ms (95% interval +527 to +547).
Why: not known; the records show no setting that differs.
Do: measure both by turns, in one run (docs/howto/ci.md).
! Two runs: a machine that changed between them looks the same.

BROKEN  p99>+10%: p99 +324% (+539 ms, 95%: +527 to +547 ms, p 0.002)

metric               A     B  shift      %    95% interval      p    n  verdict
rate, requests/s   376   376      0   0.0%        −2 to +2   1.00  6+6  ~
p50, ms           55.3   235   +180  +324%    +176 to +182  0.002  6+6  worse
p99, ms            166   704   +539  +324%    +527 to +547  0.002  6+6  worse
p99.9, ms          199   845   +646  +324%    +632 to +656  0.002  6+6  worse
availability, %    100   100      0   0.0%          0 to 0   1.00  6+6  ~
CPU, ms/request   2.62  2.62   0.00   0.0%  −0.02 to +0.02   1.00  6+6  ~
throttled, %      16.6  70.4  +53.8  +324%  +52.7 to +54.7  0.002  6+6  worse

A  before · procs · 2026-01-31T12:00:00Z · go procs=1
B  after · procs · 2026-01-31T12:00:00Z · go procs=1
`
	if diff := cmp.Diff(want, table(t, r, 120)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestNoLineIsWiderThanTheTerminal(t *testing.T) {
	r := compared(t, fixture("before", map[string][]float64{"1": quick, "2": quick}), fixture("after", map[string][]float64{"1": slow, "2": quite}))
	for _, limit := range []int{40, 60, 80, 100, 160} {
		for line := range strings.Lines(table(t, r, limit)) {
			if line = strings.TrimSuffix(line, "\n"); display.Width(line) > limit {
				t.Errorf("at %d columns a line takes %d: %q", limit, display.Width(line), line)
			}
		}
	}
	for width, out := range map[int]string{120: "", 76: "", 62: "%"} {
		got := table(t, r, width)
		for _, word := range []string{"p99, ms", "+539", "+527 to +547", "0.004  6+6  worse"} {
			if !strings.Contains(got, word) {
				t.Errorf("a table of %d columns has no %q:\n%s", width, word, got)
			}
		}
		if _, left, _ := strings.Cut(got, "Left out at this width: "); out != "" && !strings.HasPrefix(left, out+".\n") || out == "" && left != "" {
			t.Errorf("at %d columns: left out %q, want %q", width, left, out)
		}
	}
}

// TestAShiftStandsWithItsInterval: a column of one without the other would be misread, at
// any width and with figures of any size.
func TestAShiftStandsWithItsInterval(t *testing.T) {
	figures := map[string]*Result{"latencies": one(t, quick, slow)}
	for name, by := range map[string]float64{"thousands": 10, "ten thousands": 100} {
		trial := map[string][]float64{"1": quick}
		a, b := searched(fixture("before", trial), times(6, breaking(310*by, 300*by, 320*by))), searched(fixture("after", trial), times(6, breaking(428*by, 410*by, 440*by)))
		for _, s := range []*Selection{a, b} {
			for i := range s.Cells[0].Figures.PerTrial {
				s.Cells[0].Figures.PerTrial[i].RateRPS = ptr(*s.Cells[0].Figures.Breaking.RateRPS * (1 + float64(i)/100))
				s.Cells[0].Figures.PerTrial[i].Throttled = ptr(0.5 + float64(i)/100)
			}
		}
		figures[name] = compared(t, a, b)
	}
	for name, r := range figures {
		for width := 30; width <= 120; width++ {
			got := table(t, r, width)
			for line := range strings.Lines(got) {
				if strings.HasPrefix(line, "metric ") && strings.Contains(line, "shift") != strings.Contains(line, "95% interval") {
					t.Errorf("%s at %d columns: %q", name, width, line)
				}
			}
			if width == 80 {
				heads := []string{"shift", "95% interval", "p", "n", "verdict"}
				if name != "ten thousands" {
					heads = append(heads, "A", "B")
				}
				for _, head := range heads {
					if !strings.Contains(got, " "+head+" ") && !strings.Contains(got, " "+head+"\n") {
						t.Errorf("%s: no column %s at 80 columns:\n%s", name, head, got)
					}
				}
			}
		}
	}
}

func TestForeignTextIsEscaped(t *testing.T) {
	r := compared(t, fixture("be\x1b[31mfore|", map[string][]float64{"1": quick}), fixture("<b>", map[string][]float64{"1": slow}))
	if got := table(t, r, 0); strings.ContainsRune(got, '\x1b') {
		t.Errorf("an escape sequence reached the terminal:\n%q", got)
	}
	var b bytes.Buffer
	if err := text.Markdown(&b, r.Blocks(false)); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.Contains(got, "<b>") || !strings.Contains(got, `be␛\[31mfore\|`) {
		t.Errorf("Markdown:\n%s", got)
	}
}

func TestMarkdownHasTheTable(t *testing.T) {
	r := compared(t, fixture("before", map[string][]float64{"1": quick, "2": quick}), fixture("after", map[string][]float64{"1": slow, "2": quite}))
	r.OnlyInA = []string{"go procs=6"}
	var b bytes.Buffer
	if err := text.Markdown(&b, r.Blocks(true)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"**p99 is higher in B in 1 of 2 cells, most in go procs=1: 166 → 704 ms (95% interval +527 to +547).**\n",
		"\n### go procs=1\n",
		"| metric | A | B | shift | % | 95% interval | p | n | verdict |\n| --- | ---: | ---: |",
		"| p99, ms | 166 | 704 | +539 | +324% | +527 to +547 | 0.004 | 6+6 | worse |",
		"\nOnly in A: go procs=6\n",
		"corrected by Holm for 2 cells",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

func TestCSVHasAllDigits(t *testing.T) {
	var b bytes.Buffer
	if err := CSV(&b, one(t, quick, slow)); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"go procs=1", "go procs=1", "p99", "ms", "166", "704", "6", "6", "538.5"}
	for _, line := range lines {
		if line[2] == "p99" {
			if diff := cmp.Diff(want, line[:len(want)]); diff != "" {
				t.Error(diff)
			}
			return
		}
	}
	t.Errorf("no line of p99 in %v", lines)
}

func TestJSONCanBeReadAgain(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, one(t, quick[:3], nil)); err != nil {
		t.Fatal(err)
	}
	var got Result
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	row := got.Pairs[0].Row("p99")
	if row.Verdict != verdict.OneSided || row.B != nil || *row.A != 163 {
		t.Errorf("%+v", *row)
	}
	for _, list := range []string{`"incomparable": []`, `"only_in_a": []`, `"fail_on": []`, `"differs": []`, `"notes": []`} {
		if !strings.Contains(b.String(), list) {
			t.Errorf("%s is missing", list)
		}
	}
}

// The tests of two records know nothing of what changed on the machine between them.
func TestOnlyTwoRecordsAreSaidToBeOfDifferentRuns(t *testing.T) {
	if r := one(t, quick, slow); !strings.Contains(r.footnote(), TwoRecords) {
		t.Errorf("two records: %q", r.footnote())
	}
	both := fixture("release", map[string][]float64{"1": quick, "2": slow})
	a, b := *both, *both
	a.Cells, b.Cells = both.Cells[:1], both.Cells[1:]
	if r := compared(t, &a, &b); strings.Contains(r.footnote(), TwoRecords) {
		t.Errorf("two cells of one record: %q", r.footnote())
	}
}
