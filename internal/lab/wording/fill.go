package wording

import "github.com/millicore/millicore/internal/analysis/summary"

// Fill words the findings of a summary that summary.json has as texts.
func Fill(s *summary.Summary) {
	for i := range s.Cells {
		c := &s.Cells[i]
		FillBreaking(c.Breaking)
		if c.Own != nil {
			c.Own.Evidence = Of(c.Own.Shown)
		}
		if o := c.Objective; o != nil {
			o.Missed = Of(o.MissedBy)
		}
		if d := c.Disturbance; d != nil {
			d.Reasons = each(d.Why)
		}
	}
	for i := range s.Claims {
		s.Claims[i].Reason = Joined(s.Claims[i].Why)
	}
	for i := range s.Findings {
		f := &s.Findings[i]
		f.Title, f.Text = Of(f.What), Joined(f.Why)
	}
}

// FillBreaking words the findings of a breaking point; nil: there is none.
func FillBreaking(b *summary.BreakingPoint) {
	if b == nil {
		return
	}
	b.Reason, b.Evidence, b.Contradiction = Joined(b.Why), Evidence(b.Shown), Of(b.Refuted)
	if r := b.Recovery; r != nil {
		r.Reason = Of(r.Why)
	}
}
