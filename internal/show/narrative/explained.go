package narrative

import (
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
)

// Fact is a statement about a cell under its name.
type Fact struct{ Name, Text string }

// Explained are the statements about a cell beyond its figures: what limits it and
// the evidence, where its latency leaves its floor, what the search took. The slow
// tail is not among them, because it is drawn.
func Explained(c *summary.Cell) []Fact {
	var facts []Fact
	if b := c.Breaking; b != nil {
		if text := LimitedText(b); text != "" {
			facts = append(facts, Fact{"limited by", text})
		}
		if text := TestedText(c); text != "" {
			if b.Untested {
				text += " (the answer is untested)"
			}
			facts = append(facts, Fact{"tested", text})
		}
		if text := RecoveryText(c); text != "" {
			facts = append(facts, Fact{"recovery", text})
		}
		if text := Reason(b); text != "" {
			name := reasonName(b)
			if name != note {
				text = "because " + text
			}
			facts = append(facts, Fact{name, text})
		}
	}
	if c.Knee != nil {
		facts = append(facts, Fact{"knee", KneeText(c)})
	}
	if c.Breaking != nil {
		facts = append(facts, Fact{searchFact, SearchText(c.Breaking)})
	}
	return facts
}

// statesLoad reports whether evidence states the load of its figures, which is then that
// of the window with the highest CPU use, or of the highest load.
func statesLoad(evidence string) bool {
	return strings.HasPrefix(evidence, "at ") || strings.Contains(evidence, " it answered ")
}

// evidenceText is what a limit rests on, with the loads of its windows. The figures of
// the cell are of other windows: "it used 100% of its CPU limit; at 421 to 500
// requests/s".
func evidenceText(b *summary.BreakingPoint) string {
	text := display.Plain(b.Evidence)
	if text == "" || len(b.EvidenceAt) != 2 || statesLoad(text) {
		return text
	}
	ends := loadFigures(b, b.EvidenceAt[0], b.EvidenceAt[1])
	at := "at " + ends[0]
	if ends[1] != ends[0] {
		at += " to " + ends[1]
	}
	switch {
	case b.Users != nil:
		at += " users"
	case b.RateRPS != nil:
		at += " requests/s"
	default:
		at = "at a load of " + strings.TrimPrefix(at, "at ")
	}
	return text + "; " + at
}

// Names of facts: note is that of a reason that qualifies a breaking point, notFoundFact
// that of the reason why there is none, searchFact that of what a search took.
const (
	note         = "note"
	notFoundFact = "not found"
	searchFact   = "search"
)

// OnlyUnfound returns the reason why a cell has no breaking point, if that is all that
// facts state beside what the search took; "" otherwise.
func OnlyUnfound(facts []Fact) string {
	if len(facts) == 2 && facts[0].Name == notFoundFact && facts[1].Name == searchFact {
		return facts[0].Text
	}
	return ""
}

// reasonName is what the search gave a reason for.
func reasonName(b *summary.BreakingPoint) string {
	switch {
	case b.Load() == nil:
		return notFoundFact
	case b.AtLeast:
		return "lower bound"
	}
	return note
}

// breaksAt is the verb of a breaking point, before its load.
func breaksAt(b *summary.BreakingPoint) string {
	switch {
	case b.AtLeast && b.Untested:
		return "is estimated to hold"
	case b.AtLeast:
		return "holds"
	case b.Untested:
		return "breaks at an estimated"
	}
	return "breaks at"
}

// BreakLine is a breaking point on a line of its own: "breaks at 352 requests/s
// (338–366)".
func BreakLine(c *summary.Cell) string {
	b := c.Breaking
	switch {
	case b.Load() == nil:
		return "no breaking point found"
	case b.AtLeast:
		return breaksAt(b) + " " + BreakFigure(b) + " " + LoadUnit(c)
	}
	text := breaksAt(b) + " " + LoadFigure(b, *b.Load()) + " " + LoadUnit(c)
	if ends := BreakInterval(b); ends != "" {
		text += " (" + ends + ")"
	}
	return text
}
