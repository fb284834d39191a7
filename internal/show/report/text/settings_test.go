package text

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/test/sample"
	"github.com/millicore/millicore/test/testkit/golden"
)

// TestTheAnswerOfTryIsThreeLinesAndOneTable: at 80 columns, and in Markdown.
func TestTheAnswerOfTryIsThreeLinesAndOneTable(t *testing.T) {
	narrow := answerText(t, sample.Settings(), display.Terminal{Width: 80})
	golden.Check(t, "settings-80.txt", narrow)
	golden.Check(t, "settings.md", markdownText(t, sample.Settings()))
	for line := range strings.Lines(narrow) {
		if display.Width(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("wider than 80 columns: %q", line)
		}
	}
	for _, head := range []string{"setting", "breaks at", "p99", "limit", "limited by"} {
		if !strings.Contains(narrow, head) {
			t.Errorf("no column %q", head)
		}
	}
}
