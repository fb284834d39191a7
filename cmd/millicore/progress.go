package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/lab"
)

// progress shows on standard error how a run stands: in a terminal one line a
// trial that is rewritten while the trial goes on, elsewhere one line a trial
// when it has ended.
type progress struct {
	mu   sync.Mutex
	out  *os.File
	live bool
	open bool // a line is being rewritten

	passing bool // it is a status, of which nothing is to stay
}

func newProgress(out *os.File) *progress {
	return &progress{out: out, live: term.IsTerminal(int(out.Fd()))}
}

func (p *progress) progress(now lab.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ended := now.State.Ended()
	if !p.live && !ended {
		return
	}
	line := progressLine(now)
	if !p.live {
		fmt.Fprintln(p.out, line)
		return
	}
	if width, _, err := term.GetSize(int(p.out.Fd())); err == nil && len([]rune(line)) >= width && width > 1 {
		line = string([]rune(line)[:width-1])
	}
	fmt.Fprintf(p.out, "\r\033[K%s", line)
	p.open = !ended
	if ended {
		fmt.Fprintln(p.out)
	}
}

// progressLine is, in columns: which trial, which cell, its repeat, the time
// left, and the figures so far.
func progressLine(p lab.Progress) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%*d/%d] %-28s %d/%d  %6s left", len(fmt.Sprint(p.Of)), p.Trial, p.Of, p.Label, p.Repeat, p.Repeats, display.Clock(p.Left))
	if p.Rate != nil {
		fmt.Fprintf(&b, "  %8.0f/s", *p.Rate)
	}
	if p.P99 != nil {
		fmt.Fprintf(&b, "  p99 %8s", milliseconds(*p.P99))
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

func milliseconds(d time.Duration) string {
	v := float64(d) / float64(time.Millisecond)
	switch {
	case v < 10:
		return fmt.Sprintf("%.2f ms", v)
	case v < 100:
		return fmt.Sprintf("%.1f ms", v)
	}
	return fmt.Sprintf("%.0f ms", v)
}

// status shows a line that the next one takes the place of; in a terminal only.
func (p *progress) status(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.live {
		return
	}
	fmt.Fprintf(p.out, "\r\033[K%s", line)
	p.open, p.passing = true, true
}

// note prints a line for people without disturbing the one that is rewritten.
func (p *progress) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endLine()
	fmt.Fprintln(p.out, strings.TrimRight(text, "\n"))
}

// Write makes progress the lab's log.
func (p *progress) Write(text []byte) (int, error) {
	p.note(string(text))
	return len(text), nil
}

// end leaves an empty line between the progress and what follows.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endLine()
	fmt.Fprintln(p.out)
}

func (p *progress) endLine() {
	switch {
	case p.passing:
		fmt.Fprint(p.out, "\r\033[K")
	case p.open:
		fmt.Fprintln(p.out)
	}
	p.open, p.passing = false, false
}
