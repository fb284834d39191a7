package narrative

import (
	"fmt"
	"math"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
)

// TestedText is what was tested of a breaking point: "held 1,149 requests/s at 67% of
// its CPU limit (p99 5.60 ms of 6,890 requests in 6.00 s), and missed the objective at 1,856";
// "" if the record has no windows. Fewer requests than the quantile needs met the objective,
// which is less than that the load was held.
func TestedText(c *summary.Cell) string {
	b := c.Breaking
	var loads []float64
	for _, s := range []*summary.Step{b.Held, b.Missed} {
		if s != nil {
			loads = append(loads, s.Target)
		}
	}
	figures := loadFigures(b, loads...)
	missed := ""
	if b.Missed != nil {
		missed = "missed the objective at " + figures[len(figures)-1]
	}
	switch {
	case b.Held == nil && missed == "":
		return ""
	case b.Held == nil:
		return "no test window met the objective; it " + missed
	}
	text := "held "
	if _, few := tooFew(b.Held, c.Quantile()); few && b.Held.LatencyMS != nil {
		text = "met the objective at "
	}
	text += heldText(c, figures[0])
	if missed != "" {
		text += ", and " + missed
	}
	return text
}

// heldText is the load that was tested and met the objective, with its figures.
func heldText(c *summary.Cell, load string) string {
	h := c.Breaking.Held
	text := load + " " + LoadUnit(c)
	if h.CPUOfLimit != nil {
		text += " at " + display.Share(*h.CPUOfLimit) + " of its CPU limit"
	}
	name := c.Quantile()
	if h.LatencyMS == nil {
		return text
	}
	for _, q := range h.LatencyMS.All() {
		if q.Name == name {
			text += " (" + QuantileName(name) + " " + display.WithUnit(q.Value) + " " + ofRequests(h, name) + ")"
		}
	}
	return text
}

// beyond is how many requests must be slower than a quantile for it to decide anything.
const beyond = 10

// ofRequests is what a quantile of a step is of, and how many it needs if these are too few.
func ofRequests(s *summary.Step, quantile string) string {
	text := fmt.Sprintf("of %s in %s s", display.Counted(ofStep(s), "request"), display.Figure(s.Seconds))
	if least, few := tooFew(s, quantile); few {
		text += fmt.Sprintf("; %s needs %s", QuantileName(quantile), display.Grouped(least))
	}
	return text
}

func ofStep(s *summary.Step) int64 { return int64(math.Round(s.RateRPS * s.Seconds)) }

// tooFew reports whether a step has fewer requests than a quantile needs, and how many it needs.
func tooFew(s *summary.Step, quantile string) (least int64, few bool) {
	least = int64(math.Ceil(beyond/(1-summary.QuantileShare(quantile)) - 1e-6))
	return least, ofStep(s) < least
}

// RecoveryText is all that is known of a sustained load and of the recovery from an
// overload.
func RecoveryText(c *summary.Cell) string {
	b, r := c.Breaking, c.Breaking.Recovery
	if r == nil {
		return ""
	}
	unit := LoadUnit(c)
	text := ""
	if r.Sustained != nil && r.SustainedAt != nil {
		text = fmt.Sprintf("held %s %s without draining", LoadFigure(b, *r.SustainedAt), unit)
		if !*r.Sustained {
			text = fmt.Sprintf("did not hold %s %s without draining", LoadFigure(b, *r.SustainedAt), unit)
		}
		text += "; "
	} else if r.SustainedAt != nil {
		text = fmt.Sprintf("no clear result at %s %s without draining; ", LoadFigure(b, *r.SustainedAt), unit)
	}
	after := ""
	if r.Overload != nil {
		after = fmt.Sprintf("after %s %s ", LoadFigure(b, *r.Overload), unit)
	}
	switch {
	case r.Reason != "":
		text += "not measured after an overload: " + display.Plain(r.Reason)
	case r.Lost != "":
		text += after + "it was lost: " + display.Plain(r.Lost)
	case b.RecoversAt != nil && r.NotAt != nil:
		loads := loadFigures(b, *r.NotAt, *b.RecoversAt)
		text += fmt.Sprintf("%sit missed the objective down to %s, and met it again at %s", after, loads[0], loads[1])
	case b.RecoversAt != nil:
		text += fmt.Sprintf("%sit met the objective again at %s, the first load tried", after, LoadFigure(b, *b.RecoversAt))
	case r.NotAt != nil:
		text += fmt.Sprintf("%sit missed the objective down to %s, the lowest load tried", after, LoadFigure(b, *r.NotAt))
	}
	if r.Hysteresis() && r.Searches[1] > 1 {
		text += fmt.Sprintf(" (%d of %d searches)", r.Searches[0], r.Searches[1])
	}
	return text
}
