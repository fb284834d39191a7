package report

import (
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
)

// tailWord is a cell's tail in a table: "92% throttling".
func tailWord(c *analysis.CellSummary) string {
	if c.Causes == nil {
		return display.Absent
	}
	if p, ok := narrative.MainPart(c.Causes); ok {
		return display.Share(p.Value) + " " + p.Short
	}
	return display.Absent
}

// tailTone sets off a tail that has a cause that can be mended.
func tailTone(c *analysis.CellSummary) display.Tone {
	if c.Causes == nil {
		return display.Normal
	}
	if p, ok := narrative.MainPart(c.Causes); ok && p.Name != "rest" {
		return display.Warning
	}
	return display.Normal
}

// barWidth is how long a bar of text is.
const barWidth = 40

// textBar draws shares as a bar of characters, each cause with its own. Every
// cause that is there has at least one.
func textBar(all []narrative.Part, wide int) string {
	widths := make([]int, len(all))
	left := wide
	for i, p := range all {
		widths[i] = max(1, int(math.Round(p.Value*float64(wide))))
		left -= widths[i]
	}
	if len(all) > 0 { // what rounding left or took is the widest one's
		widest := slices.Index(widths, slices.Max(widths))
		widths[widest] = max(1, widths[widest]+left)
	}
	var b strings.Builder
	for i, p := range all {
		b.WriteString(strings.Repeat(p.Fill, widths[i]))
	}
	return b.String()
}

// barLegend says what a bar's characters are: "█ 92% throttling, ░ 8% queueing
// and work".
func barLegend(all []narrative.Part) string {
	var words []string
	for _, p := range all {
		words = append(words, p.Fill+" "+display.Share(p.Value)+" "+p.Long)
	}
	return strings.Join(words, ", ")
}
