package live

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/signals"
)

const (
	maxWidth = 120 // longer lines are not easier to read
	maxRows  = 12  // of the histogram
	maxBar   = 60  // columns of its bars
	minRows  = 3   // of the histogram, and lines of errors
	maxKinds = 4   // of errors
	maxNotes = 2
)

// Draw draws the state on a terminal with a number of lines. No line is wider than the
// terminal. If there is not enough room, the least important parts are left out.
func (s *State) Draw(now time.Time, out display.Terminal, height int) []string {
	if out.Width <= 0 || out.Width > maxWidth {
		out.Width = maxWidth
	}
	p := drawing{State: s, out: out, now: now}
	blocks := [][]string{p.head(), nil, nil, nil, nil}
	left := height - len(blocks[0])
	take := func(block int, lines []string) {
		blocks[block] = lines[:max(0, min(len(lines), left))]
		left -= len(blocks[block])
	}
	kinds, notes := p.kinds(), p.lastNotes()
	take(1, p.table(left-len(notes)-min(len(kinds), minRows)))
	take(4, notes)
	if left > 1 { // below their title
		take(2, kinds)
	}
	gaps := -1 // empty lines between the blocks
	for _, b := range blocks {
		if len(b) > 0 {
			gaps++
		}
	}
	if room := left - 1; room >= minRows { // below its title
		if roomy := room - gaps - 1; roomy >= 2*minRows {
			room = roomy
		}
		if take(3, p.histogram(min(room, maxRows))); len(blocks[3]) > 0 {
			gaps++
		}
	}
	var lines []string
	for _, b := range blocks {
		if len(b) > 0 && len(lines) > 0 && left >= gaps {
			lines = append(lines, "")
		}
		lines = append(lines, b...)
	}
	return lines[:max(0, min(len(lines), height))]
}

// drawing draws a state at a time.
type drawing struct {
	*State
	out display.Terminal
	now time.Time
}

// fit returns the first text that fits, or the last one, truncated.
func (p *drawing) fit(texts ...string) string {
	for _, text := range texts {
		if display.Width(text) <= p.out.Width {
			return text
		}
	}
	return ansi.Truncate(texts[len(texts)-1], p.out.Width, "…")
}

// head has the result so far, the load, and the time.
func (p *drawing) head() []string {
	long, short := p.answer()
	return []string{
		p.out.Paint(p.fit(display.Plain(p.plan.URL)+": "+long, long, short), display.Strong),
		p.load(),
		p.clock(),
	}
}

// answer is the rate, the p99 and the availability, in a long and a short form.
func (p *drawing) answer() (long, short string) {
	seen, before := &p.all, ""
	switch p.phase {
	case "":
		return "the load begins", "the load begins"
	case signals.Warmup:
		seen, before = &p.last, "warming up, "
	}
	if seen.requests() == 0 {
		return before + "no answer yet", before + "no answer yet"
	}
	if seen.good == 0 {
		return fmt.Sprintf("%sno good answer to %s", before, display.Counted(seen.requests(), "request")),
			fmt.Sprintf("%sno good answer to %s", before, display.Grouped(seen.requests()))
	}
	rate, p99, well := display.Figure(seen.rate()), display.WithUnit(milliseconds(seen.p99)), display.Percent(seen.availability())
	return fmt.Sprintf("%s%s requests/s, p99 %s, %s available", before, rate, p99, well),
		fmt.Sprintf("%s%s/s, p99 %s, %s good", before, rate, p99, well)
}

// load is the requested load, and the requests in flight and waiting.
func (p *drawing) load() string {
	most, now := display.Grouped(int64(math.Round(p.plan.Highest))), ""
	if p.plan.Stages && p.phase != "" {
		level := p.users
		if p.plan.Open {
			level = p.rate
		}
		now = display.Grouped(int64(math.Round(level))) + " of up to "
	}
	long, short := fmt.Sprintf("closed loop, %s%s users", now, most), fmt.Sprintf("%s%s users", now, most)
	if p.plan.Open {
		long, short = fmt.Sprintf("open loop, %s%s requests/s", now, most), fmt.Sprintf("%s%s/s", now, most)
	}
	if p.phase == "" {
		return p.fit(long, short)
	}
	under := fmt.Sprintf("; %s in flight", display.Grouped(p.inFlight))
	if p.waiting == 0 {
		return p.fit(long+under, short+under)
	}
	waiting, tone := display.Grouped(p.waiting), display.Normal
	if p.waiting > p.inFlight { // a few that coincide are no queue
		tone = display.Warning
	}
	return p.out.Paint(p.fit(long+under+", "+waiting+" wait for a connection", short+under+", "+waiting+" waiting"), tone)
}

// clock is the elapsed time, a line that fills, and the remaining time.
func (p *drawing) clock() string {
	begun, whole := p.Begun(p.now), p.plan.Warmup+p.plan.Length
	share, left := begun.Seconds()/whole.Seconds(), display.Clock(whole-begun)+" left"
	switch {
	case p.plan.Requests > 0:
		done := p.all.requests()
		share = float64(done) / float64(p.plan.Requests)
		left = fmt.Sprintf("%s of %s", display.Grouped(done), display.Grouped(p.plan.Requests))
	case begun >= whole:
		begun, share, left = whole, 1, "last answers"
	}
	before, behind := display.Clock(begun)+" ", " "+left
	width := p.out.Width - display.Width(before) - display.Width(behind)
	if width < 4 {
		return p.fit(strings.TrimSpace(before) + "," + behind)
	}
	done, rest := gauge(share, width)
	return before + p.out.Paint(done, display.Good) + p.out.Paint(rest, display.Quiet) + behind
}

// lastNotes are the newest messages.
func (p *drawing) lastNotes() []string {
	var lines []string
	for _, note := range p.notes[max(0, len(p.notes)-maxNotes):] {
		lines = append(lines, p.out.Paint(p.fit(display.Plain(note)), display.Warning))
	}
	return lines
}

// histogram draws the latencies so far in at most this number of rows, with the
// percentiles at their rows.
func (p *drawing) histogram(most int) []string {
	all := p.buckets.Rows(most)
	if len(all) == 0 {
		return nil
	}
	const marks = len(" p50 p90 p99")
	labels, counts := make([]string, len(all)), make([]string, len(all))
	label, count, top := 0, 0, int64(0)
	for i, r := range all {
		labels[i] = "to " + bounded(r.To)
		counts[i] = display.Grouped(r.N)
		label, count, top = max(label, len(labels[i])), max(count, len(counts[i])), max(top, r.N)
	}
	width := p.out.Width - label - count - 2*gap
	if width > marks+20 { // otherwise the percentiles stand only where the bars leave room
		width -= marks
	}
	width = min(width, maxBar)
	lines := []string{p.out.Paint(p.fit("Latency so far, ms"), display.Quiet)}
	for i, r := range all {
		line := bar(float64(r.N)/float64(top), width)
		mark := ""
		for _, q := range []struct {
			name string
			at   time.Duration
		}{{"p50", p.all.p50}, {"p90", p.all.p90}, {"p99", p.all.p99}} {
			if q.at <= r.To && (i == 0 || q.at > all[i-1].To) {
				mark += " " + q.name
			}
		}
		text := fmt.Sprintf("%*s%*s  %s", label, labels[i], count+gap, counts[i], line)
		if display.Width(text+mark) > p.out.Width {
			mark = ""
		}
		if text = strings.TrimRight(p.fit(text), " "); mark != "" {
			text += p.out.Paint(mark, display.Quiet)
		}
		lines = append(lines, text)
	}
	return lines
}

// bounded formats a row's bound in milliseconds, with all its digits.
func bounded(d time.Duration) string {
	if d >= time.Second {
		return display.Grouped(d.Milliseconds())
	}
	return strconv.FormatFloat(milliseconds(d), 'f', -1, 64)
}
