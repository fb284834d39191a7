package report

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
)

// The tests of a server before a change and after it are those of the answer: old to new, and
// corrected for all figures together.
func TestChangesAreThoseOfTheAnswer(t *testing.T) {
	cell := func(i int, service string, cpu float64) summary.Cell {
		c := summary.Cell{Cell: i, Service: service}
		for n := range 8 {
			each, p99 := cpu+0.01*float64(n), 5+float64(n*n%7)
			c.PerTrial = append(c.PerTrial, summary.TrialFigures{CPUPerReqMS: &each, P99: &p99})
		}
		return c
	}
	cells := []summary.Cell{cell(0, "as-is", 1.2), cell(1, "before", 1)}
	s := &summary.Summary{Cells: cells, Common: &summary.Summary{Cells: cells}}
	s.Experiment.Server = &experiment.Server{Name: "api", Settings: []experiment.Setup{{Service: "as-is", Label: "new"}, {Service: "before", Label: "old", Before: true}}}
	tables := newDifferences(s, []string{"new", "old"})
	if len(tables) != 1 {
		t.Fatalf("%d tables", len(tables))
	}
	rows := map[string]string{}
	for i, name := range tables[0].Columns[0].Cells {
		var row []string
		for _, c := range tables[0].Columns[1:] {
			row = append(row, c.Cells[i].Text)
		}
		rows[name.Text] = strings.Join(row, "|")
	}
	for name, want := range map[string]string{
		"CPU per request, ms": "1.04|1.23|+0.20|+19%|+0.17 to +0.23|<0.001|8+8|worse",
		"p99, ms":             "6.50|6.50|0.00|0.0%|−2.00 to +2.00|1.00|8+8|~",
	} {
		if rows[name] != want {
			t.Errorf("%s: %s, want %s; all: %q", name, rows[name], want, rows)
		}
	}
}
