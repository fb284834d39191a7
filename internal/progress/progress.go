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

	"github.com/millicore/millicore/internal/display"
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

// New returns a printer on a file, usually standard error.
func New(out *os.File) *Printer {
	return &Printer{out: out, live: term.IsTerminal(int(out.Fd()))}
}

// Progress shows the state of the current trial.
func (p *Printer) Progress(now lab.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ended := now.State.Ended()
	if !p.live && !ended {
		return
	}
	text := line(now)
	if !p.live {
		fmt.Fprintln(p.out, text)
		return
	}
	if width, _, err := term.GetSize(int(p.out.Fd())); err == nil && len([]rune(text)) >= width && width > 1 {
		text = string([]rune(text)[:width-1])
	}
	fmt.Fprintf(p.out, "\r\033[K%s", text)
	p.open = !ended
	if ended {
		fmt.Fprintln(p.out)
	}
}

// line has, in columns, the trial, its cell, its repeat, the remaining time, and the
// figures so far.
func line(p lab.Progress) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%*d/%d] %-28s %d/%d  %6s left", len(fmt.Sprint(p.Of)), p.Trial, p.Of, p.Label, p.Repeat, p.Repeats, display.Clock(p.Left))
	if p.Rate != nil {
		fmt.Fprintf(&b, "  %8.0f/s", *p.Rate)
	}
	if p.P99 != nil {
		fmt.Fprintf(&b, "  p99 %8s", display.WithUnit(p.P99.Seconds()*1000))
	}
	if p.Periods != nil && p.ThrottledPeriods != nil {
		fmt.Fprintf(&b, "  throttled %3d of %3d", *p.ThrottledPeriods, *p.Periods)
	}
	if p.Search != "" {
		fmt.Fprintf(&b, "  %-18s", p.Search)
	}
	if p.State != "measure" && p.State != "done" {
		fmt.Fprintf(&b, "  %s", p.State)
	}
	return b.String()
}

// Status shows a line that the next one replaces, on a terminal only.
func (p *Printer) Status(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.live {
		return
	}
	fmt.Fprintf(p.out, "\r\033[K%s", line)
	p.open, p.transient = true, true
}

// Note prints a message on a line of its own.
func (p *Printer) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endLine()
	fmt.Fprintln(p.out, strings.TrimRight(text, "\n"))
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
	fmt.Fprintln(p.out)
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
