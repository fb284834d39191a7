package capacity

import (
	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/lab/wording"
)

// worded is a breaking point with the texts of its findings instead of them; nil of nil.
func worded(b *summary.BreakingPoint) *summary.BreakingPoint {
	if b == nil {
		return nil
	}
	wording.FillBreaking(b)
	b.Why, b.Shown, b.Refuted = nil, nil, finding.Finding{}
	if b.Recovery != nil {
		b.Recovery.Why = finding.Finding{}
	}
	return b
}
