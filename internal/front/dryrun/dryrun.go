// Package dryrun shows what a run would do, without starting anything: its cells with
// their limits and loads, the commands and variables of its services, how long it takes,
// and the checks of what it needs.
package dryrun

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/kubernetes/launch"
	"github.com/millicore/millicore/internal/show/report"
	"github.com/millicore/millicore/internal/show/report/text"
)

// Plan is what a run would do, and the checks of what it needs.
type Plan struct {
	Experiment   *experiment.Experiment
	Requirements launch.Requirements
	Lasts        time.Duration // the estimated duration, which differs by platform
}

// trials is the number of trials, with those at a common load.
func (p Plan) trials() int {
	repeats := p.Experiment.Measure.Repeats
	if common := p.Experiment.CommonLoad(); common != nil {
		repeats += common.Repeats
	}
	return len(p.Experiment.Cells) * repeats
}

// Text writes the plan for a terminal.
func (p Plan) Text(out io.Writer, t display.Terminal) error {
	e := p.Experiment.Shown()
	blocks := []report.Block{
		report.Headline{Answer: fmt.Sprintf("%s: %s, %s, about %s; nothing was started (dry run).", display.Plain(e.Name),
			display.Counted(int64(len(e.Cells)), "cell"), display.Counted(int64(p.trials()), "trial"), about(p.Lasts))},
		cellTable(e),
	}
	if common := e.CommonLoad(); common != nil {
		blocks = append(blocks, report.Paragraph{Text: commonWords(common)})
	}
	for _, f := range serviceFacts(e) {
		blocks = append(blocks, f)
	}
	if err := text.Terminal(out, blocks, t); err != nil || len(p.Requirements) == 0 {
		return err
	}
	_, err := fmt.Fprint(out, "\n"+needs(p.Requirements, t))
	return err
}

// about writes an estimate: "40 s", "about 5 min", "1 h 20 min".
func about(d time.Duration) string {
	switch minutes := int(d.Round(time.Minute).Minutes()); {
	case d < 100*time.Second:
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	case minutes < 100:
		return fmt.Sprintf("%d min", minutes)
	default:
		return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
	}
}

// needs lists the checks, what is missing first.
func needs(all launch.Requirements, t display.Terminal) string {
	words := map[launch.State]string{launch.There: "ok", launch.Missing: "missing", launch.Unknown: "unchecked", launch.Noted: "note"}
	tones := map[launch.State]display.Tone{launch.Missing: display.Bad, launch.Noted: display.Warning}
	const indent = "             " // of "  unchecked  "
	var b strings.Builder
	for _, state := range []launch.State{launch.Missing, launch.Noted, launch.Unknown, launch.There} {
		for _, r := range all {
			if r.State == state {
				head := t.Paint(fmt.Sprintf("  %-9s  ", words[state]), tones[state])
				b.WriteString(head + strings.TrimPrefix(t.Wrap(display.Plain(r.What+": "+r.Words), indent), indent) + "\n")
			}
		}
	}
	return b.String()
}

// JSON writes the plan as one object. plan has the cells as in the record.
func (p Plan) JSON(out io.Writer) error {
	type need struct {
		What  string `json:"what"`
		State string `json:"state"` // "there", "missing", "not known", "note"
		Words string `json:"words"`
	}
	needs := []need{}
	for _, r := range p.Requirements {
		needs = append(needs, need{r.What, r.State.String(), r.Words})
	}
	return display.WriteJSON(out, struct {
		Experiment string             `json:"experiment"`
		Cells      int                `json:"cells"`
		Trials     int                `json:"trials"`
		AboutS     float64            `json:"about_s"`
		Needs      []need             `json:"needs"`
		Measure    experiment.Measure `json:"measure"`
		Plan       []experiment.Cell  `json:"plan"`
	}{p.Experiment.Name, len(p.Experiment.Cells), p.trials(), p.Lasts.Seconds(), needs, p.Experiment.Measure, p.Experiment.Shown().Cells})
}

// commonWords are the second part of a run: its load is known only after the searches.
func commonWords(c *experiment.Common) string {
	return fmt.Sprintf("After the searches, each cell is held at one load, %v%% of the lowest breaking point, or the load that all held: %d × %s.",
		c.Percent, c.Repeats, about(c.Duration))
}

// cellTable has a row for each cell.
func cellTable(e *experiment.Experiment) report.Table {
	column := func(head string, kind report.Kind, rank report.Rank, of func(*experiment.Cell) string) report.Column {
		c := report.Column{Head: head, Kind: kind, Rank: rank}
		for i := range e.Cells {
			c.Cells = append(c.Cells, report.Cell{Text: display.Plain(of(&e.Cells[i]))})
		}
		return c
	}
	return report.Table{Columns: []report.Column{
		column("cell", report.Name, report.Kept, e.LabelOf),
		column("CPU limit", report.Mixed, 1, func(c *experiment.Cell) string { return cpuWords(c.Limits.CPUMillis) }),
		column("memory", report.Mixed, 2, func(c *experiment.Cell) string { return memoryWords(c.Limits.Memory) }),
		column("replicas", report.Figure, 4, func(c *experiment.Cell) string { return strconv.Itoa(c.Limits.Replicas) }),
		column("load", report.Word, report.Kept, func(c *experiment.Cell) string { return loadWords(&c.Load) }),
		column("trials", report.Word, 3, func(c *experiment.Cell) string { return trialWords(e, c) }),
	}}
}

func cpuWords(millis int64) string {
	switch {
	case millis == 0:
		return "none"
	case millis%1000 == 0:
		return display.Grouped(millis / 1000)
	}
	return fmt.Sprintf("%dm", millis)
}

func memoryWords(bytes int64) string {
	if bytes == 0 {
		return "none"
	}
	return display.Bytes(float64(bytes))
}

// loadWords are a load in short: "50 users", "search from 50/s", "200/s".
func loadWords(l *experiment.Load) string {
	if l.Benchmark {
		return "measures itself"
	}
	amount := func(v float64) string {
		if l.Users != nil {
			return display.Users(v)
		}
		return display.Figure(v) + "/s"
	}
	t := l.Target()
	switch levels := t.Levels(); {
	case l.Find:
		return "search from " + amount(t.Value)
	case len(levels) > 1:
		return fmt.Sprintf("%d levels up to %s", len(levels), amount(t.Highest()))
	case len(t.Stages) > 0:
		return "stages up to " + amount(t.Highest())
	}
	return amount(t.Value)
}

// trialWords are the number and the length of a cell's trials: "6 × 20 s".
func trialWords(e *experiment.Experiment, c *experiment.Cell) string {
	length := "up to " + about(e.Measure.Duration)
	switch measured := e.Measure.Measured(c); {
	case c.Load.Requests > 0:
		length = display.Counted(c.Load.Requests, "request")
	case measured > 0:
		length = about(measured)
	}
	return fmt.Sprintf("%d × %s", e.Measure.Repeats, length)
}
