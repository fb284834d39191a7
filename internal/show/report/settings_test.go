package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/show/narrative"
	"github.com/millicore/millicore/test/sample"
)

// Right of what limits a setting, the table of settings is about the common load: p99,
// throttling, CPU and the slow tail. A block below it is about the search, and names its
// load.
func TestTheTableOfSettingsIsAboutOneLoad(t *testing.T) {
	s := sample.Settings().Summary
	r := New(s)
	at := slices.IndexFunc(r.Cells.Columns, func(c Column) bool { return c.Kind == Tail })
	if at < 0 {
		t.Fatal("no column of slow tails")
	}
	for i := range s.Cells {
		common, _ := narrative.MainPart(s.Common.Cells[i].Causes)
		if got, want := r.Cells.Columns[at].Cells[i], common.Text()+" "+common.Short; got.Text != want || got.Tail != s.Common.Cells[i].Causes {
			t.Errorf("%s: the slow tail is %q, want %q of the common load", r.Details[i].Name, got.Text, want)
		}
		if r.Details[i].Causes != s.Cells[i].Causes {
			t.Errorf("%s: the block has another slow tail than that of the search", r.Details[i].Name)
		}
	}
	c := summary.Cell{Load: summary.Load{Find: true}, Breaking: &summary.BreakingPoint{Searches: 1, Held: &summary.Step{Target: 1500}}}
	if got := narrative.TailLoad(&c); got != "at 1,500 requests/s" {
		t.Errorf("the load of a slow tail: %q", got)
	}
	if c.Breaking.Searches = 6; narrative.TailLoad(&c) != "at the breaking point" {
		t.Errorf("of several searches: %q", narrative.TailLoad(&c))
	}
}

// A text does not repeat the answer of a search below its table; other findings stay.
func TestTheAnswerOfASearchStandsOnce(t *testing.T) {
	s := sample.Settings().Summary
	zero := 0
	s.Findings = []summary.Finding{{Level: "result", Cell: &zero, Title: "meets the objective up to 143 requests/s", Searched: true},
		{Level: "result", Cell: &zero, Title: "memory grows from run to run"}}
	r := New(s)
	if notes := r.notes(); len(notes) != 1 || !strings.Contains(notes[0].Name, "memory grows") {
		t.Errorf("%+v", notes)
	}
	if len(r.Findings) != 2 {
		t.Errorf("the page has %d findings, want both", len(r.Findings))
	}
}

// Settings without a breaking point for one reason share a block.
func TestSettingsWithoutABreakingPointShareABlock(t *testing.T) {
	s := sample.Settings().Summary
	for i := range s.Cells[:3] {
		c := &s.Cells[i]
		c.Breaking = &summary.BreakingPoint{Reason: "neighbours took CPU in most windows", TrafficS: float64(20 + i)}
		c.Causes, c.Knee = nil, nil
	}
	s.Cells[2].Breaking.Reason = "it was the generator"
	var titles []string
	for _, b := range New(s).explained() {
		titles = append(titles, b.(Facts).Title)
	}
	if want := []string{"as it is (500m), GOMAXPROCS=1 (500m)", "as it is (1)", "without the CPU limit"}; !slices.Equal(titles, want) {
		t.Errorf("blocks %q, want %q", titles, want)
	}
}
