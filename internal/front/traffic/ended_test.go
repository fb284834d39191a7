package traffic

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
)

func TestTextReportsThatTheTargetEnded(t *testing.T) {
	cell := &summary.Cell{}
	text := server(&Result{Cell: cell, Ended: 5100 * time.Millisecond}, display.Terminal{})
	if want := "Target\n  ended  0:05 after the load began; it was not measured after that\n\n"; text != want {
		t.Errorf("got %q, want %q", text, want)
	}
	if text := server(&Result{Cell: cell}, display.Terminal{}); text != "" {
		t.Errorf("without an observed process: %q", text)
	}
}
