// Package logs is the command `millicore traffic`: what traffic an access log shows, and a file of
// requests that repeats its mix.
package logs

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/base/safefile"
	"github.com/millicore/millicore/internal/data/accesslog"
	"github.com/millicore/millicore/internal/data/captured"
	"github.com/millicore/millicore/internal/data/display"
)

// Options are the flags of `millicore traffic`.
type Options struct {
	File  string // "-": standard input
	Out   string // file of the requests; "": none is written
	Paths int    // of a route in that file at most
	JSON  bool
}

// Check reports flags that are wrong, before anything is read.
func (o *Options) Check() error {
	if o.Paths < 1 {
		return fmt.Errorf("--paths %d: want 1 or more", o.Paths)
	}
	if o.Out == "" {
		return nil
	}
	if _, err := os.Lstat(o.Out); err == nil {
		return fmt.Errorf("--out %s: the file is there already; name another", o.Out)
	}
	return nil
}

// Run reads the log, prints what it shows, and writes the file of requests.
func (o *Options) Run(stdin io.Reader, out io.Writer) error {
	open := func() (io.Reader, func(), error) { return Open(o.File) }
	if o.File == "-" {
		open = func() (io.Reader, func(), error) { return unpacked(stdin, o.File, func() {}) }
	}
	in, done, err := open()
	if err != nil {
		return err
	}
	defer done()
	t, err := accesslog.Of(in)
	if err != nil {
		return fmt.Errorf("%s: %w", o.File, err)
	}
	if o.Out != "" {
		if err := safefile.Replace(o.Out, lines(t.Mix(o.Paths)), 0o600); err != nil {
			return err
		}
	}
	if o.JSON {
		return display.WriteJSON(out, t)
	}
	_, err = io.WriteString(out, o.shown(t, display.TerminalOf(out)))
	return err
}

// Open opens a log, which may be compressed with gzip, as rotated ones are.
func Open(name string) (io.Reader, func(), error) {
	f, err := os.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fmt.Errorf("%s does not exist", name)
	case err != nil:
		return nil, nil, err
	}
	done := func() { f.Close() }
	if info, err := f.Stat(); err == nil && info.IsDir() {
		done()
		return nil, nil, fmt.Errorf("%s is a folder; name a file", name)
	}
	return unpacked(f, name, done)
}

// unpacked is a log without its compression, which its first bytes show: the names of rotated
// logs differ.
func unpacked(log io.Reader, name string, done func()) (io.Reader, func(), error) {
	in := bufio.NewReader(log)
	if magic, _ := in.Peek(2); string(magic) != "\x1f\x8b" {
		return in, done, nil
	}
	text, err := gzip.NewReader(in)
	if err != nil {
		done()
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, done, nil
}

// lines are the requests as --mix of load reads them, one object a line.
func lines(mix []accesslog.Request) []byte {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	for _, r := range mix {
		r.Path = captured.Escape(r.Path)
		_ = to.Encode(r) // to a buffer
	}
	return b.Bytes()
}

// mostRoutes are shown.
const mostRoutes = 20

// shown is what the log shows, for people.
func (o *Options) shown(t *accesslog.Traffic, screen display.Terminal) string {
	var b strings.Builder
	say := func(format string, args ...any) {
		b.WriteString(screen.Wrap(fmt.Sprintf(format, args...), "") + "\n")
	}
	say("%s of %s can be repeated; %s.", display.Counted(int64(t.Used), "request"), display.Counted(int64(len(t.Routes)), "route"), display.Clean(t.Left()))
	if len(t.Hosts) > 1 {
		say("They are of %s, of which most are of %s: a load sends all to its target.", display.Counted(int64(len(t.Hosts)), "host"), display.Clean(t.Hosts[0].What))
	}
	if a := t.Arrivals; a != nil {
		zone := "UTC"
		if a.ZoneUnknown {
			zone = "in the log's own time, of which it does not name the zone"
		}
		say("All requests with a time: %s from %s to %s %s, %s/s on average, %s/s in the busiest minute, %s/s in the busiest second.%s",
			grouped(a.Requests), a.First.Format("2006-01-02 15:04:05"), a.Last.Format("2006-01-02 15:04:05"), zone,
			display.Figure(a.Mean), display.Figure(a.BusiestMinute), display.Figure(a.BusiestSecond), bursts(a.Dispersion))
	}
	b.WriteString("\n" + screen.Table(routes(t)))
	if more := len(t.Routes) - mostRoutes; more > 0 {
		say("and %s", display.Counted(int64(more), "more route"))
	}
	if a := t.Arrivals; a != nil && len(a.Hours) > 1 {
		b.WriteString("\n" + screen.Table(hours(a)))
	}
	if o.Out != "" {
		say("\nRequests: %s", display.Clean(o.Out))
	}
	if t.Arrivals != nil && o.File != "-" {
		fmt.Fprintf(&b, "\nAt their recorded times:\n  millicore load --replay %s URL\n", display.Clean(o.File)) // to be copied whole
	}
	return b.String()
}

// bursts says what the index of dispersion means; "": it is not known.
func bursts(dispersion float64) string {
	switch {
	case dispersion == 0:
		return ""
	case dispersion > 1.5:
		return fmt.Sprintf(" They came in bursts, or their rate changed: the index of dispersion of the busiest hour is %s, and 1 of arrivals at random.", display.Figure(dispersion))
	}
	return fmt.Sprintf(" The index of dispersion of the busiest hour is %s: no bursts beyond those of arrivals at random (1).", display.Figure(dispersion))
}

func routes(t *accesslog.Traffic) []display.Column {
	cols := []display.Column{{Head: "share"}, {Head: "requests"}, {Head: "paths"}, {Head: "route", Left: true}}
	for _, r := range t.Routes[:min(mostRoutes, len(t.Routes))] {
		for i, cell := range []string{display.Share(float64(r.Count) / float64(t.Used)), grouped(r.Count), grouped(r.Distinct), display.Clean(r.Route)} {
			cols[i].Cells = append(cols[i].Cells, cell)
		}
	}
	return cols
}

// hours are the load over the last day of the log, a line an hour, also those without requests.
func hours(a *accesslog.Arrivals) []display.Column {
	const day, widest = 24, 40
	last := a.Hours[len(a.Hours)-1].Start
	requests, highest := map[time.Time]int{}, 0
	for _, h := range a.Hours {
		if last.Sub(h.Start) < day*time.Hour {
			requests[h.Start] = h.Requests
			highest = max(highest, h.Requests)
		}
	}
	first := a.Hours[0].Start
	if earliest := last.Add(-(day - 1) * time.Hour); first.Before(earliest) {
		first = earliest
	}
	head := "hour (UTC)"
	if a.ZoneUnknown {
		head = "hour (of the log)"
	}
	cols := []display.Column{{Head: head, Left: true}, {Head: "requests"}, {Head: "", Left: true}}
	for at := first; !at.After(last); at = at.Add(time.Hour) {
		n := requests[at]
		bar := strings.Repeat("█", int(math.Round(widest*float64(n)/float64(highest))))
		for i, cell := range []string{at.Format("2006-01-02 15:04"), grouped(n), bar} {
			cols[i].Cells = append(cols[i].Cells, cell)
		}
	}
	return cols
}

func grouped(n int) string { return display.Grouped(int64(n)) }
