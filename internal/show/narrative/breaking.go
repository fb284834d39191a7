package narrative

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/lab/wording"
)

// LoadUnit is what a cell's load is counted in.
func LoadUnit(c *summary.Cell) string {
	if c.Load.Kind == "closed" || c.Breaking != nil && c.Breaking.Users != nil {
		return "users"
	}
	return "requests/s"
}

// LoadUnits are the units of all searched cells, each once.
func LoadUnits(s *summary.Summary) []string {
	var units []string
	for i := range s.Cells {
		if c := &s.Cells[i]; c.Searched() && !slices.Contains(units, LoadUnit(c)) {
			units = append(units, LoadUnit(c))
		}
	}
	return units
}

// LoadFigure writes a load: users are whole.
func LoadFigure(b *summary.BreakingPoint, v float64) string {
	if b.Users != nil {
		return display.Grouped(int64(math.Round(v)))
	}
	return display.Figure(v)
}

// mostDigits is as many decimals as different loads are written with.
const mostDigits = 6

// loadFigures are loads that stand in one text. Different ones are written differently,
// if need be with more digits: "139.1" and "139.4".
func loadFigures(b *summary.BreakingPoint, loads ...float64) []string {
	texts := make([]string, len(loads))
	for more := 0; ; more++ {
		written := map[string]float64{}
		alike := false
		for i, v := range loads {
			texts[i] = LoadFigure(b, v)
			if more > 0 && b.Users == nil {
				texts[i] = display.Fixed(v, display.Decimals(v)+more)
			}
			other, seen := written[texts[i]]
			alike, written[texts[i]] = alike || seen && other != v, v
		}
		if !alike || more == mostDigits {
			return texts
		}
	}
}

// BreaksAt is a breaking point as one figure: "352", "≥40,000" for a lower bound,
// "not found" if the search found none, "–" if there was no search.
func BreaksAt(c *summary.Cell) string {
	switch b := c.Breaking; {
	case b == nil:
		return display.Absent
	case b.Load() == nil:
		return "not found"
	case b.AtLeast:
		return "≥" + LoadFigure(b, *b.Load())
	default:
		return LoadFigure(b, *b.Load())
	}
}

// BreakInterval are the ends beside a breaking point; "": it has none.
func BreakInterval(b *summary.BreakingPoint) string {
	switch {
	case b == nil || b.Load() == nil || b.Low == nil:
		return ""
	case b.High == nil:
		return "from " + LoadFigure(b, *b.Low)
	}
	return LoadFigure(b, *b.Low) + "–" + LoadFigure(b, *b.High)
}

// BreakFigure is a breaking point for a sentence, without its unit: "352
// (338–366)", "at least 40,000".
func BreakFigure(b *summary.BreakingPoint) string {
	if b.AtLeast {
		return "at least " + LoadFigure(b, *b.Load())
	}
	text := LoadFigure(b, *b.Load())
	if ends := BreakInterval(b); ends != "" {
		text += " (" + ends + ")"
	}
	return text
}

// limitPhrases are the limits after "limited by" in a sentence.
var limitPhrases = map[string]string{
	summary.ByCPULimit:    "its CPU limit",
	summary.ByThrottling:  "throttling",
	summary.ByMemory:      "its memory limit",
	summary.ByAcceptQueue: "its accept queue",
	summary.ByDelayedAck:  "delayed acknowledgements",
	summary.ByErrors:      "its errors",
	summary.ByDependency:  "its dependency",
	summary.ByParallelism: "its busy threads, or a lock",
	summary.ByService:     "the service itself",
	summary.ByGenerator:   "the generator",
	summary.ByHost:        "the host's CPUs",
}

// LimitPhrase words a limit after "limited by".
func LimitPhrase(by string) string {
	if text, ok := limitPhrases[by]; ok {
		return text
	}
	return display.Plain(by)
}

// LimitWord is a limit in a table. Throttling is the CPU limit, and a number of CPUs near a
// whole one does not distinguish busy threads from a lock.
func LimitWord(by string) string {
	switch by {
	case summary.ByThrottling:
		by = summary.ByCPULimit
	case summary.ByParallelism:
		return "threads or lock"
	}
	return display.Plain(by)
}

// BoundReason is why a breaking point is only a lower bound.
func BoundReason(b *summary.BreakingPoint) string {
	switch b.LimitedBy {
	case summary.ByGenerator, summary.ByHost:
		return "the " + b.LimitedBy + " was the limit"
	}
	switch search.Ended(b.Ended) {
	case search.Time:
		return "the time was used up before any load missed the objective; start at a higher load, or " + wording.Longer
	case search.Most:
		return "this is the highest load allowed, and the objective is still met"
	case search.Limited:
		return "the generator or the host was the limit"
	}
	if text := Reason(b); text != "" {
		return text
	}
	return "it met the objective at every load"
}

// Reason is the reason that the search gave, for the middle of a sentence.
func Reason(b *summary.BreakingPoint) string {
	return strings.TrimRight(strings.TrimSpace(display.Plain(b.Reason)), ".")
}

// LimitedText is what limited a service, with the figures that show it.
func LimitedText(b *summary.BreakingPoint) string {
	if b.Contradiction != "" {
		return "not known: " + display.Plain(b.Contradiction)
	}
	text := LimitWord(b.LimitedBy)
	if evidence := evidenceText(b); text != "" && evidence != "" {
		return text + ": " + evidence
	} else if text == "" {
		return evidence
	}
	return text
}

// SearchText is what an answer rests on: "6 searches, up to 54 s of traffic each".
func SearchText(b *summary.BreakingPoint) string {
	var parts []string
	switch b.Searches {
	case 0:
		parts = append(parts, "no search found it")
	case 1:
		parts = append(parts, "1 search")
	default:
		parts = append(parts, display.Grouped(int64(b.Searches))+" searches")
	}
	if b.TrafficS > 0 {
		text := phrase.Seconds(b.TrafficS) + " of traffic"
		if b.Searches > 1 {
			text = "up to " + text + " each"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// KneeText is the statement about a cell's knee: "p99 starts to rise at 41% of
// the limit (37–45%): 144 requests/s (131–158), from a floor of 21.0 ms".
func KneeText(c *summary.Cell) string {
	k := c.Knee
	load := fmt.Sprintf("%s %s (%s–%s)", display.Figure(k.Load), LoadUnit(c), display.Figure(k.Low), display.Figure(k.High))
	floor := ", from a floor of " + display.WithUnit(k.FloorMS)
	name := QuantileName(k.Quantile)
	if k.OfLimit == nil {
		return name + " starts to rise at " + load + floor
	}
	return name + " starts to rise at " + kneeOfLimit(k) + ": " + load + floor
}

// kneeOfLimit is the CPU at which latency leaves its floor: "41% of the limit
// (37–45%)".
func kneeOfLimit(k *summary.Knee) string {
	text := display.Share(*k.OfLimit) + " of the limit"
	if k.OfLimitLow != nil && k.OfLimitHigh != nil {
		text += " (" + strings.TrimSuffix(display.Share(*k.OfLimitLow), "%") + "–" + display.Share(*k.OfLimitHigh) + ")"
	}
	return text
}

// QuantileName writes a quantile for people: "p999" is "p99.9".
func QuantileName(name string) string {
	if len(name) > 3 && name[0] == 'p' {
		return display.Plain(name[:3] + "." + name[3:])
	}
	return display.Plain(name)
}
