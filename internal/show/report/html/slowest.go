package html

import (
	"fmt"
	"math"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/report"
)

// slowest are one cell's slowest requests, each as a line over the windows that
// it lay in. Places are percent of the scale, written for a style.
type slowest struct {
	Mark  mark
	Index int
	Name  string
	Ticks []string
	Rows  []slowRow
}

type slowRow struct {
	At       string // when it was due, for the margin
	Wait     string // width until it was sent
	Run      string // width from then on
	Text     string // its latency
	TimedOut bool
	Windows  []slowWindow
	Tip      string
}

type slowWindow struct{ Class, Left, Wide string }

// manySlow is how many requests of a cell are drawn.
const manySlow = 8

// newSlowest draws the slowest requests of every cell that has them, all on one scale: a
// longer line is a longer request, whatever panel it is in.
func newSlowest(s *summary.Summary, names []string) []slowest {
	longest := 0.0
	for i := range s.Cells {
		for _, r := range slowRequests(&s.Cells[i]) {
			longest = math.Max(longest, r.DoneMS)
		}
	}
	// A round number whose quarters are round too, with room behind the longest.
	scale := report.Round(longest*1.08, 1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8)
	ticks := []string{"0"}
	for _, part := range []float64{0.25, 0.5, 0.75, 1} {
		ticks = append(ticks, display.Figure(part*scale))
	}
	var all []slowest
	for i := range s.Cells {
		requests := slowRequests(&s.Cells[i])
		if len(requests) == 0 {
			continue
		}
		one := slowest{Mark: markOf(i), Index: i, Name: names[i], Ticks: ticks}
		for _, r := range requests {
			one.Rows = append(one.Rows, newSlowRow(&r, scale, s.Cells[i].Limits.Replicas > 1))
		}
		all = append(all, one)
	}
	return all
}

// slowRequests are those that can be drawn, at most manySlow.
func slowRequests(c *summary.Cell) []summary.SlowRequest {
	if c.Causes == nil {
		return nil
	}
	var all []summary.SlowRequest
	for _, r := range c.Causes.Slowest {
		if len(all) < manySlow && r.DoneMS > 0 && summary.Finite(&r.DoneMS) != nil && summary.Finite(&r.SentMS) != nil {
			all = append(all, r)
		}
	}
	return all
}

func newSlowRow(r *summary.SlowRequest, scale float64, replicas bool) slowRow {
	place := func(ms float64) string { return decimal(100 * math.Max(0, math.Min(1, ms/scale))) }
	sent := math.Max(0, math.Min(r.SentMS, r.DoneMS))
	out := slowRow{At: display.Figure(r.AtS) + " s", Wait: place(sent), Run: place(r.DoneMS - sent), Text: display.Figure(r.DoneMS), TimedOut: r.TimedOut}
	held := map[string]float64{}
	for _, w := range r.Windows {
		from, to := math.Max(0, w.FromMS), math.Min(w.ToMS, r.DoneMS)
		if !(to > from) {
			continue
		}
		class := "other"
		switch w.Kind {
		case "throttled", "down":
			class = w.Kind
		}
		held[class] += to - from
		out.Windows = append(out.Windows, slowWindow{class, place(from), place(to - from)})
	}
	out.Tip = fmt.Sprintf("trial %d, due at %s s", r.Trial, display.Figure(r.AtS))
	if replicas {
		out.Tip += fmt.Sprintf(", replica %d", r.Replica)
	}
	end := "answered"
	if r.TimedOut {
		end = "given up"
	}
	out.Tip += "\nsent after " + typeset(display.WithUnit(sent)) + ", " + end + " after " + typeset(display.WithUnit(r.DoneMS))
	for _, kind := range []string{"throttled", "down"} {
		if ms := held[kind]; ms > 0 {
			out.Tip += "\n" + kind + " for " + typeset(display.WithUnit(ms)) + " of it"
		}
	}
	return out
}
