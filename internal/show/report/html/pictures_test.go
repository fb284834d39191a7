package html

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/internal/show/narrative"
	"github.com/millicore/millicore/internal/show/report"
	"github.com/millicore/millicore/internal/show/report/html/charts"
	"github.com/millicore/millicore/test/sample"
)

func slowCell(requests ...summary.SlowRequest) summary.Cell {
	return summary.Cell{Service: "go", Label: "go", Causes: &summary.Causes{Rest: 1, Slowest: requests}}
}

func TestSlowRequestsLieOnOneScale(t *testing.T) {
	s := &summary.Summary{Cells: []summary.Cell{
		slowCell(summary.SlowRequest{AtS: 12.5, SentMS: 10, DoneMS: 100, Windows: []summary.SlowWindow{{Kind: "throttled", FromMS: 20, ToMS: 60}, {Kind: "moon", FromMS: 0, ToMS: 5}}}),
		slowCell(summary.SlowRequest{SentMS: 0, DoneMS: 180}),
		{Service: "bun", Label: "bun"},
	}}
	got := newSlowest(s, []string{"a", "b", "c"})
	if len(got) != 2 {
		t.Fatalf("%d cells are drawn, want the two that have slow requests", len(got))
	}
	if diff := cmp.Diff([]string{"0", "50.0", "100", "150", "200"}, got[0].Ticks); diff != "" {
		t.Errorf("ticks (-want +got): %s", diff)
	}
	row := got[0].Rows[0]
	if row.Wait != "5" || row.Run != "45" {
		t.Errorf("a request of 10 ms of waiting and 90 ms of work on 200 ms lies at %s, %s", row.Wait, row.Run)
	}
	if diff := cmp.Diff([]slowWindow{{"throttled", "10", "20"}, {"other", "0", "2.5"}}, row.Windows); diff != "" {
		t.Errorf("windows (-want +got): %s", diff)
	}
	for _, want := range []string{"due at 12.5 s", "sent after 10.0", "answered after 100", "throttled for 40.0"} {
		if !strings.Contains(row.Tip, want) {
			t.Errorf("the tip does not say %q: %s", want, row.Tip)
		}
	}
}

// A line ten times as long as another one is a request of ten times the latency.
func TestSlowRequestsOfAnotherSizeLieOnTheSameScale(t *testing.T) {
	s := &summary.Summary{Cells: []summary.Cell{slowCell(summary.SlowRequest{DoneMS: 80}), slowCell(summary.SlowRequest{DoneMS: 800}), slowCell(summary.SlowRequest{DoneMS: 400})}}
	got := newSlowest(s, []string{"a", "b", "c"})
	for i, want := range []string{"8", "80", "40"} {
		if got[i].Rows[0].Run != want || got[i].Ticks[4] != "1,000" {
			t.Errorf("cell %d: the line takes %s%% of %s ms, want %s%% of 1,000 ms", i, got[i].Rows[0].Run, got[i].Ticks[4], want)
		}
	}
}

func TestSlowRequestsThatCannotBeDrawnAreLeftOut(t *testing.T) {
	odd := []summary.SlowRequest{{DoneMS: 0}, {DoneMS: math.Inf(1)}, {DoneMS: math.NaN()}, {DoneMS: 10, SentMS: math.NaN()},
		{DoneMS: 50, SentMS: 80, Windows: []summary.SlowWindow{{Kind: "down", FromMS: 40, ToMS: 90}, {Kind: "down", FromMS: 9, ToMS: 3}, {Kind: "down", FromMS: math.NaN(), ToMS: 3}}}}
	s := &summary.Summary{Cells: []summary.Cell{slowCell(odd...)}}
	got := newSlowest(s, []string{"a"})[0].Rows
	if len(got) != 1 || len(got[0].Windows) != 1 || got[0].Run != "0" {
		t.Fatalf("drawn: %+v", got)
	}
	for range 20 {
		s.Cells[0].Causes.Slowest = append(s.Cells[0].Causes.Slowest, summary.SlowRequest{DoneMS: 5})
	}
	if got := newSlowest(s, []string{"a"})[0].Rows; len(got) != manySlow {
		t.Errorf("%d requests of a cell are drawn, want %d", len(got), manySlow)
	}
}

func TestTailsFillTheirBars(t *testing.T) {
	s := sample.Search().Summary
	rows, keys := newTails(s, narrative.CellNames(s))
	if len(rows) != 4 || len(keys) != 3 {
		t.Fatalf("%d bars with %d causes, want 4 and 3", len(rows), len(keys))
	}
	for _, r := range rows {
		sum := 0.0
		for _, p := range r.Parts {
			v, err := strconv.ParseFloat(p.Grow, 64)
			if err != nil {
				t.Errorf("a share is written as %q", p.Grow)
			}
			sum += v
		}
		if math.Abs(sum-1) > 0.001 {
			t.Errorf("%s: the shares make %v", r.Name, sum)
		}
	}
	if got := rows[2].Parts[0]; got.Sure != "80" || got.Text != "74–92%" {
		t.Errorf("of the throttling of procs=6, %s, %s%% are certain, want 80%% of 74–92%%", got.Text, got.Sure)
	}
}

func TestRangesLieOnTheirScale(t *testing.T) {
	low, high, value := 20.0, 100.0, 60.0
	scale := report.Scale{From: -100, To: 100}
	p := newPicture(&report.Range{Value: &value, Low: &low, High: &high, Points: []float64{-100, 100}}, scale)
	if !(p.Zero < p.Low && p.Low < p.Tick && p.Tick < p.Low+p.Long) || p.Zero != pictureWidth/2 {
		t.Errorf("drawn at %+v", p)
	}
	if p.Dots[0] != pictureMargin || p.Dots[1] != pictureWidth-pictureMargin {
		t.Errorf("the ends of the scale are drawn at %v", p.Dots)
	}
	open := newPicture(&report.Range{Low: &low, Claimed: &report.Bound{At: 50}}, report.Scale{To: 100})
	if open.Low+open.Long != pictureWidth-pictureMargin || open.Ticked {
		t.Errorf("a lower bound is drawn as %+v, want up to the end and without a tick", open)
	}
	if open.Side != pictureMargin || open.Side+open.SideLong != open.Bound {
		t.Errorf("the claimed side below a bound is drawn as %+v", open)
	}
}

func TestBreakingPointsAreDrawnWhereTheyCanBe(t *testing.T) {
	s := sample.Bounds().Summary
	c := charts.New(results.Results{Summary: s})
	if c.Objective == nil || c.Objective.MS != 50 {
		t.Errorf("objective %+v, want 50 ms", c.Objective)
	}
	if b := c.Cells[0].Breaking; b == nil || b.High != nil || !strings.Contains(b.Text, "the generator was the limit") {
		t.Errorf("the lower bound is drawn as %+v", b)
	}
	if b := c.Cells[1].Breaking; b == nil || *b.High != 1420 {
		t.Errorf("the breaking point is drawn as %+v", b)
	}
	if b := c.Cells[2].Breaking; b != nil {
		t.Errorf("where none was found, %+v is drawn", b)
	}
	s.Cells[0].Objective = sample.Objective("p99", 40, 0)
	if got := charts.New(results.Results{Summary: s}).Objective; got != nil {
		t.Errorf("of two objectives %+v is drawn for all", got)
	}
}
