package answer

import (
	"fmt"
	"math"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
)

// withKinds adds which kind of request has most of the CPU time, and which breaks first, if there is
// room for them; else the latter alone.
func (a Answer) withKinds(c *summary.Cell) Answer {
	if c == nil {
		return a
	}
	cost, first := costliest(c), firstKind(c)
	for _, text := range []string{strings.TrimSpace(cost + " " + first), first, cost} {
		if text != "" && a.words(a.Caveats)+len(strings.Fields(text)) <= mostWords {
			a.What += " " + text
			break
		}
	}
	return a
}

// costliest is what a request of the kind with most of the CPU time costs; "": it is not shown.
func costliest(c *summary.Cell) string {
	k := verdict.Costliest(c)
	if k == nil {
		return ""
	}
	low, high, _ := k.EndsOfShare()
	return fmt.Sprintf("%s costs %s ms of CPU (%s–%s), %s of the CPU time (%s).", display.Plain(k.Name), display.Figure(*k.CPUMS),
		display.Figure(*k.CPULow), display.Figure(*k.CPUHigh), display.Share(*k.ShareOfCPU), display.Shares(low, high))
}

// firstKind is which kind of request breaks first; "": none is shown to.
func firstKind(c *summary.Cell) string {
	b := c.Breaking
	if b == nil || b.FirstKind == "" {
		return ""
	}
	name, share := display.Plain(b.FirstKind), fmt.Sprintf("%.0f%%", math.Floor(100*b.FirstKindShare))
	if b.Load() == nil {
		return fmt.Sprintf("%s has %s of the late or failed requests.", name, share)
	}
	return fmt.Sprintf("%s breaks first, with %s of the late or failed requests.", name, share)
}

// about is the cell whose kinds of requests an answer names: the only one, or the server as it is;
// nil: there are several.
func (a *asked) about() *summary.Cell {
	server := a.s.Experiment.Server
	switch {
	case len(a.s.Cells) == 1:
		return &a.s.Cells[0]
	case server == nil || len(server.Settings) == 0 || server.Against() != "":
		return nil
	}
	return newTried(a).cells[0]
}
