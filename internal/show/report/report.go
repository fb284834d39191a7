// Package report has what the reports of a record show: the answer, the facts of
// the run, the tables and the details of each cell. Each of them is declared once,
// as a value. Package text writes them for terminals and as Markdown, package html
// as a page with charts; the forms for programs, CSV and JSON, are written here.
//
// It computes no figure and draws no conclusion: figures and judgements are those of
// analysis, sentences those of narrative. Names, labels and other texts of a record
// are foreign: they are made plain here, and escaped by the package that writes them.
//
// A "–" stands for what was not measured; it is never shown as 0.
package report

import (
	"fmt"
	"io"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/answer"
	"github.com/millicore/millicore/internal/show/narrative"
)

// Report is what is shown of a record.
type Report struct {
	Title       string
	About       string
	Answer      answer.Answer
	Run         []string
	Setup       []string
	Host        []string
	Claims      []Claim
	ClaimCount  string
	Findings    []narrative.Finding
	Flags       []Flag
	Cells       Table
	CellsNote   string  // what its latencies are, if the tests have others
	Levels      Table   // without columns: the load had no levels
	Searched    bool    // for breaking points, which the levels of a ramp show in detail
	Sheets      []Table // of records of special shapes
	Differences []Table // tests, one table per metric and baseline
	Untested    string  // why there are no tests; "": there are, or nothing to compare
	Details     []Detail
	Profiles    []Profile
}

// Flag is a warning of some cells with its explanation.
type Flag struct{ Label, Who, Text string }

// New returns the report of a summary.
func New(s *summary.Summary) *Report {
	names := narrative.CellNames(s)
	r := &Report{
		Title: display.Plain(s.Experiment.Name), About: display.Plain(s.Experiment.About), Answer: answer.Of(s),
		Run: narrative.RunFacts(s), Setup: narrative.SetupFacts(s), Host: narrative.HostFacts(s.Host),
		Claims: newClaims(s, names), ClaimCount: narrative.ClaimCount(s), Findings: narrative.Findings(s, names),
		Cells: newCells(s), CellsNote: cellsNote(s), Levels: newLevels(s, names), Searched: s.Kind() == summary.KindSearch, Sheets: newSheets(s, names),
		Differences: newDifferences(s, names), Untested: narrative.Untested(s), Profiles: newProfiles(s, names),
	}
	for _, f := range narrative.Flags(s) {
		r.Flags = append(r.Flags, Flag{Label: narrative.FlagLabel(summary.Flag(f.Word)), Who: f.Who(names), Text: f.Text})
	}
	for i := range s.Cells {
		r.Details = append(r.Details, newDetail(&s.Cells[i], names[i]))
	}
	return r
}

// JSON writes summary.json: the summary, indented, with a newline at its end.
func JSON(w io.Writer, s *summary.Summary) error {
	if err := display.WriteJSON(w, s); err != nil {
		return fmt.Errorf("write the summary of %q as JSON: %w", s.Experiment.Name, err)
	}
	return nil
}
