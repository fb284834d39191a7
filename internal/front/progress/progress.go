// Package progress shows the progress of a run on standard error: on a terminal one line
// for each trial, which is updated during the trial; otherwise a line when a trial has
// ended. It also prints messages without disturbing that line. `load` has its own
// display (package live).
package progress

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/lab"
)

// Printer prints the progress of a run. It is an io.Writer for the lab's log.
type Printer struct {
	mu   sync.Mutex
	out  *os.File
	live bool // out is a terminal
	open bool // the last line is updated in place

	transient bool // that line is a status, which leaves nothing behind
}

// quiet: printers show messages only, for the whole program.
var quiet bool

// Quiet leaves the progress out: printers then show messages only, such as those about
// trials that failed. The program calls it once, before it makes a printer.
func Quiet(on bool) { quiet = on }

// hide removes secrets from a text, for the whole program.
var hide = func(text string) string { return text }

// Hide removes these values, the secrets of an experiment, from everything that printers
// print from now on.
func Hide(values []string) { hide = secret.Scrub(values) }

// IsQuiet reports whether progress is left out.
func IsQuiet() bool { return quiet }

// New returns a printer on a file, usually standard error.
func New(out *os.File) *Printer {
	return &Printer{out: out, live: term.IsTerminal(int(out.Fd()))}
}

// Progress shows the state of the current trial.
func (p *Printer) Progress(now lab.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ended := now.State.Ended()
	if quiet || !p.live && !ended {
		return
	}
	width := display.TerminalOf(p.out).Width
	if !p.live {
		fmt.Fprintln(p.out, line(now, width))
		return
	}
	text := line(now, width-1) // a full line would move the cursor to the next one
	fmt.Fprintf(p.out, "\r\033[K%s", text)
	p.open = !ended
	if ended {
		fmt.Fprintln(p.out)
	}
}

const (
	labelRoom       = 28 // columns of a cell's label
	narrowLabelRoom = 20 // likewise, on lines below wideLine
	wideLine        = 110
)

// line has, in columns, the trial, its cell, its repeat, the remaining time, and the
// figures so far. If the line does not fit into the width, the throttled periods are left
// out, then the label is shortened, then other fields are left out, the least important
// ones first. A width of 0 is no limit.
func line(p lab.Progress, width int) string {
	room := labelRoom
	if width > 0 && width < wideLine {
		room = narrowLabelRoom
	}
	label := display.Clean(p.Label) // it may be foreign
	trial := func(label string) string {
		return fmt.Sprintf("[%*d/%d] %-*s", len(fmt.Sprint(p.Of)), p.Trial, p.Of, room, label)
	}
	parts := []string{
		trial(label),
		fmt.Sprintf(" %d/%d", p.Repeat, p.Repeats),
		fmt.Sprintf("  %6s left", display.Clock(p.Left)),
		"", "", "", "", "",
	}
	if p.Rate != nil {
		parts[3] = fmt.Sprintf("  %8.0f/s", *p.Rate)
	}
	if p.P99 != nil {
		parts[4] = fmt.Sprintf("  p99 %8s", display.WithUnit(p.P99.Seconds()*1000))
	}
	if p.Periods != nil && p.ThrottledPeriods != nil {
		parts[5] = fmt.Sprintf("  throttled %3d of %3d", *p.ThrottledPeriods, *p.Periods)
	}
	if p.Search != "" {
		parts[6] = fmt.Sprintf("  %-18s", p.Search)
	}
	if p.State != "measure" && p.State != "done" {
		parts[7] = fmt.Sprintf("  %s", p.State)
	}
	for _, least := range []int{5, 0, 1, 4, 3, 6, 2} {
		switch {
		case width == 0 || display.Width(strings.TrimRight(strings.Join(parts, ""), " ")) <= width:
		case least == 0:
			parts[0] = trial(shortened(label, room))
		default:
			parts[least] = ""
		}
	}
	text := []rune(strings.TrimRight(strings.Join(parts, ""), " "))
	if width > 0 && len(text) > width { // the label alone is wider
		text = append(text[:width-1], '…')
	}
	return string(text)
}

// shortened returns the begin and the end of a label that is longer than room: labels of
// one experiment often differ in their ends only.
func shortened(label string, room int) string {
	text := []rune(label)
	if len(text) <= room {
		return label
	}
	begin := room/2 - 2
	return string(text[:begin]) + "…" + string(text[len(text)-(room-begin-1):])
}

// Status shows a line that the next one replaces, on a terminal only.
func (p *Printer) Status(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if quiet || !p.live {
		return
	}
	fmt.Fprintf(p.out, "\r\033[K%s", display.Plain(line))
	p.open, p.transient = true, true
}

// Plan prints what a run is about to do, as a message that belongs to the progress.
func (p *Printer) Plan(text string) {
	if !quiet {
		p.Note(text)
	}
}

// Note prints a message on lines of its own, with the text of others in it made fit for a
// terminal. A terminal's lines are broken between words; in a file, each line of the
// message stays one line.
func (p *Printer) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endLine()
	text = display.Clean(hide(strings.TrimRight(text, "\n")))
	if p.live {
		text = display.TerminalOf(p.out).Wrap(text, "")
	}
	fmt.Fprintln(p.out, text)
}

// Write prints a message of the lab's log.
func (p *Printer) Write(text []byte) (int, error) {
	p.Note(string(text))
	return len(text), nil
}

// End prints an empty line between the progress and the results.
func (p *Printer) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endLine()
	if !quiet {
		fmt.Fprintln(p.out)
	}
}

func (p *Printer) endLine() {
	switch {
	case p.transient:
		fmt.Fprint(p.out, "\r\033[K")
	case p.open:
		fmt.Fprintln(p.out)
	}
	p.open, p.transient = false, false
}
