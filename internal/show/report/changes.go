package report

import (
	"fmt"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/show/narrative"
)

// changes are the tests of a run about a server before a change and after it, as its answer has
// them: a table for each setting of the new server, against the old one.
func changes(s *summary.Summary, against string) (all []Table) {
	for _, setting := range s.Experiment.Server.Settings {
		if setting.Before || setting.Service == "" {
			continue
		}
		var rows []narrative.Difference
		tested := verdict.Changed(s, against, setting.Service)
		for i := range tested {
			rows = append(rows, narrative.Difference{Difference: &tested[i]})
		}
		if len(rows) == 0 {
			continue
		}
		t := Compared("figure", [2]string{"old", "new"}, rows, func(_ int, d *narrative.Difference) string {
			m, _ := verdict.MetricOf(d.Metric)
			return m.Words + ", " + d.UnitName()
		})
		t.Title = "What changed from the old one to " + setting.Label
		t.Lead = fmt.Sprintf("Tested over whole trials, by Brunner and Munzel’s test. The shift is the median of all differences between a trial of the new one and one of the old. p is corrected for all %d figures: at most 5%% of the records name a difference that does not exist. ~: no significant difference.", len(rows))
		if s.Common != nil {
			t.Lead += " Latency, CPU and memory are those at " + narrative.CommonLoad(s) + "."
		}
		all = append(all, t)
	}
	return all
}

// Compared has a row for each difference, in the tone of its verdict. What belongs together is left
// out together: the medians of both sides, but never a shift without its interval.
func Compared(head string, sides [2]string, rows []narrative.Difference, name func(row int, d *narrative.Difference) string) Table {
	column := func(head string, kind Kind, rank Rank, of func(narrative.Difference) string) Column {
		c := Column{Head: head, Kind: kind, Rank: rank}
		for _, d := range rows {
			_, tone := d.Word()
			c.Cells = append(c.Cells, Cell{Text: of(d), Tone: tone})
		}
		return c
	}
	names := Column{Head: head, Kind: Name}
	for i := range rows {
		_, tone := rows[i].Word()
		names.Cells = append(names.Cells, Cell{Text: name(i, &rows[i]), Tone: tone})
	}
	return Table{Columns: []Column{
		names,
		column(sides[0], Mixed, 1, narrative.Difference.Left),
		column(sides[1], Mixed, 1, narrative.Difference.Right),
		column("shift", Mixed, Kept, narrative.Difference.ShiftText),
		column("%", Mixed, 2, narrative.Difference.PercentText),
		column("95% interval", Mixed, Kept, narrative.Difference.Ends),
		column("p", Mixed, Kept, narrative.Difference.Chance),
		column("n", Mixed, Kept, narrative.Difference.Counts),
		column("verdict", Word, Kept, func(d narrative.Difference) string {
			word, _ := d.Word()
			return word
		}),
	}}
}
