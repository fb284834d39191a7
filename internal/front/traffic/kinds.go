package traffic

import (
	"fmt"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/report"
	"github.com/millicore/millicore/internal/show/report/text"
)

// kinds has the figures of each kind of request, of a load with several.
func kinds(r *Result, out display.Terminal) string {
	if len(r.Cell.Kinds) == 0 {
		return ""
	}
	var b strings.Builder
	_ = text.Terminal(&b, []report.Block{report.Kinds(&summary.Summary{Cells: []summary.Cell{*r.Cell}}, []string{""})}, out) // a Builder takes all
	if r.Cell.Kinds[0].CPUMS == nil && r.Cell.CPU.Cores != nil {
		b.WriteString(out.Line(report.WithoutCosts, display.Quiet))
	}
	if longer := report.LongerForKinds(verdict.Longer(r.Cell)); longer != "" {
		b.WriteString(out.Line(longer, display.Quiet))
	}
	return b.String() + "\n"
}

// sessions says how the sessions ended, of a load that has them.
func sessions(r *Result, out display.Terminal) string {
	s := r.Cell.Sessions
	if s == nil {
		return ""
	}
	said := fmt.Sprintf("Sessions: %s begun, %s whole (%s/s), %s broken off by a request without a good answer", display.Grouped(s.Begun), display.Grouped(s.Whole), display.Maybe(s.RatePS, display.Figure), display.Grouped(s.Broken))
	if len(s.Missing) > 0 {
		said += "; answers without a value: " + report.Missing(s.Missing)
	}
	return out.Line(said+".", display.Quiet) + "\n"
}
