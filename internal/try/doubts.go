package try

import (
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/narrative"
)

// doubt is what disturbed the cells of one part of the measurement.
type doubt struct {
	by     analysis.Disturbers
	waited bool // the generator, for a CPU
}

func (d *doubt) add(c *analysis.CellSummary) {
	if c != nil {
		d.by, d.waited = d.by.And(c.Disturbers()), d.waited || c.Has(analysis.FlagAgentWaited)
	}
}

// text is a clause; "" if nothing disturbed.
func (d *doubt) text() string {
	var all []string
	if took := narrative.TookCPU(d.by); took != "" {
		all = append(all, took)
	}
	if d.waited {
		all = append(all, "the generator waited for a CPU")
	}
	return strings.Join(all, ", and ")
}

// doubts names what disturbed the figures that the verdict rests on: of all
// searches, and of the comparison at one load, which p99 rests on.
func (v *verdict) doubts(level *analysis.Summary) string {
	var searching, comparing doubt
	for _, x := range v.variants {
		searching.add(v.cell(x))
		if level != nil && !x.Unlimited {
			comparing.add(byService(level)[x.Service])
		}
	}
	var parts []string
	if text := searching.text(); text != "" {
		parts = append(parts, "while breaking points were searched, "+text)
	}
	if text := comparing.text(); text != "" {
		parts = append(parts, "while p99 was compared, "+text)
	}
	if len(parts) == 0 {
		return ""
	}
	return sentence(strings.Join(parts, "; ") + ": repeat it on a quiet machine before you rely on it")
}
