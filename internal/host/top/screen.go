package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/millicore/millicore/internal/base/tui"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/paragraphs"
)

// Scan inspects the host over a watch, as doctor does.
type Scan func(ctx context.Context, watch time.Duration) (inspect.Host, error)

// Screen shows the services on a terminal until the user quits or ctx ends.
func Screen(ctx context.Context, in io.Reader, out io.Writer, watcher looker, scan Scan, o Options) error {
	if o.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.For)
		defer cancel()
	}
	first := newScreen(ctx, watcher, scan, o, display.TerminalOf(out))
	last, err := tui.NewProgram(first, in, out, tea.WithContext(ctx)).Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil // ctx ended
	}
	if err == nil {
		err = last.(*screen).err
	}
	return err
}

// screen is the state of the terminal screen.
type screen struct {
	ctx      context.Context
	watcher  looker
	scan     Scan
	options  Options
	terminal display.Terminal
	height   int

	services Services
	sorted   []*Service
	chosen   string // directory of the service under the cursor
	moved    bool   // the user chose it; else it is the first
	paused   bool
	typing   bool               // the filter is being typed
	opened   bool               // the chosen service's findings are shown
	stop     context.CancelFunc // of the scan for them
	found    *examined          // the last scan; nil: it has not ended
	scrolled int                // number of lines of the findings above the screen
	looks    int                // number of looks
	err      error
}

func newScreen(ctx context.Context, watcher looker, scan Scan, o Options, t display.Terminal) *screen {
	return &screen{ctx: ctx, watcher: watcher, scan: scan, options: o, terminal: t, height: 24, services: Services{}}
}

// examined is a finished scan for the findings about a service.
type examined struct {
	ctx  context.Context // canceled: the findings were closed
	dir  string
	host inspect.Host
	err  error
}

// watch is how long a scan watches: as long as doctor does.
const watch = 10 * time.Second

// examine scans the host as doctor does. Findings from the looks of the table would lack
// what doctor reads besides counters, and would differ from its findings.
func (s *screen) examine() tea.Cmd {
	ctx, dir, scan := s.ctx, s.chosen, s.scan
	ctx, s.stop = context.WithCancel(ctx)
	return func() tea.Msg {
		host, err := scan(ctx, watch)
		return examined{ctx, dir, host, err}
	}
}

// looked is a finished look.
type looked struct {
	seen []inspect.Seen
	err  error
}

func (s *screen) look() tea.Msg {
	seen, err := s.watcher.Look()
	return looked{seen, err}
}

func (s *screen) wait() tea.Cmd {
	return tea.Tick(s.options.Every, func(time.Time) tea.Msg { return s.look() })
}

// Init makes the first look.
func (s *screen) Init() tea.Cmd { return s.look }

// Update handles a message.
func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.terminal.Width, s.height = msg.Width, msg.Height
	case looked:
		if msg.err != nil {
			s.err = msg.err
			return s, tea.Quit
		}
		if !s.paused { // the watcher keeps reading, so that no counts are lost
			s.services.Add(msg.seen)
			s.looks++
			s.sort()
		}
		return s, s.wait()
	case examined:
		if msg.ctx.Err() != nil || !s.opened {
			return s, nil
		}
		if !s.paused {
			s.found = &msg
		}
		return s, s.examine()
	case tea.KeyPressMsg:
		return s, s.key(msg)
	}
	return s, nil
}

// sort sorts the services, and keeps the cursor on its service.
func (s *screen) sort() {
	s.sorted = s.services.Sorted(s.options.Order, s.options.Filter)
	if at := s.at(); at < 0 || !s.moved && !s.opened {
		s.chosen, s.moved = "", false
		s.closeFindings()
		if len(s.sorted) > 0 {
			s.chosen = s.sorted[0].Dir
		}
	}
	s.watcher.Closely(dirs(s.sorted[s.first():min(s.first()+s.rows(), len(s.sorted))]))
}

// at is the index of the chosen service; -1: none.
func (s *screen) at() int {
	for i, one := range s.sorted {
		if one.Dir == s.chosen {
			return i
		}
	}
	return -1
}

// key handles a key.
func (s *screen) key(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	switch {
	case key == "ctrl+c":
		return tea.Quit
	case s.typing:
		s.typed(key, msg.Text)
	case s.opened:
		return s.reading(key)
	default:
		return s.choosing(key)
	}
	return nil
}

// choosing handles a key in the table.
func (s *screen) choosing(key string) tea.Cmd {
	switch key {
	case "q":
		return tea.Quit
	case "up", "k":
		s.move(-1)
	case "down", "j":
		s.move(1)
	case "pgup":
		s.move(-s.rows())
	case "pgdown":
		s.move(s.rows())
	case "home", "g":
		s.move(-len(s.sorted))
	case "end", "G":
		s.move(len(s.sorted))
	case "s":
		s.options.Order = (s.options.Order + 1) % orders
		s.sort()
	case "p", "space":
		s.paused = !s.paused
	case "/":
		s.typing = true
	case "esc":
		s.options.Filter = ""
		s.sort()
	case "enter":
		if s.at() >= 0 {
			s.scrolled, s.opened, s.found = 0, true, nil
			return s.examine()
		}
	}
	return nil
}

// closeFindings ends the scan for them too.
func (s *screen) closeFindings() {
	if s.opened {
		s.stop()
	}
	s.opened = false
}

// reading handles a key in the findings.
func (s *screen) reading(key string) tea.Cmd {
	switch key {
	case "q":
		return tea.Quit
	case "esc", "enter", "left", "backspace":
		s.closeFindings()
	case "up", "k":
		s.scrolled = max(0, s.scrolled-1)
	case "down", "j":
		s.scrolled++
	case "pgup":
		s.scrolled = max(0, s.scrolled-s.rows())
	case "pgdown":
		s.scrolled += s.rows()
	case "p", "space":
		s.paused = !s.paused
	}
	return nil
}

// typed handles a key while the filter is typed.
func (s *screen) typed(key, text string) {
	f := &s.options.Filter
	switch key {
	case "enter":
		s.typing = false
	case "esc":
		s.typing, *f = false, ""
	case "backspace":
		if runes := []rune(*f); len(runes) > 0 {
			*f = string(runes[:len(runes)-1])
		}
	default:
		*f += display.Plain(text)
	}
	s.sort()
}

func (s *screen) move(by int) {
	if len(s.sorted) > 0 {
		s.chosen, s.moved = s.sorted[min(max(s.at()+by, 0), len(s.sorted)-1)].Dir, true
	}
}

// rows is how many services fit between the header and the lines at the bottom.
func (s *screen) rows() int { return max(1, s.height-6) }

// first is the index of the first service on the screen.
func (s *screen) first() int { return max(0, min(s.at()-s.rows()/2, len(s.sorted)-s.rows())) }

// View draws the screen.
func (s *screen) View() tea.View {
	text := s.table()
	if s.opened {
		text = s.findings()
	}
	return tui.View("millicore top", text)
}

// table is the table with the lines above and below it.
func (s *screen) table() string {
	const margin = "  "
	width := s.terminal.Width
	if width > 0 {
		width = max(1, width-len(margin))
	}
	longest := 0
	for _, one := range s.sorted {
		longest = max(longest, one.width)
	}
	g := fitted(width, longest, screenDrops)

	var b strings.Builder
	b.WriteString(s.terminal.Paint(s.fit(s.summary()), display.Strong) + "\n\n")
	b.WriteString(s.terminal.Paint(s.fit(margin+g.head(s.options.Order)), display.Quiet) + "\n")
	at, rows, from := s.at(), s.rows(), s.first()
	for i, one := range s.sorted[from:min(from+rows, len(s.sorted))] {
		mark := margin
		if from+i == at {
			mark = "▸ "
		}
		b.WriteString(s.fit(mark+g.row(one, s.painted(one, from+i == at))) + "\n")
	}
	if len(s.sorted) == 0 && s.looks > 0 {
		b.WriteString(margin + nothing(s.options, len(s.services)) + "\n")
	}
	const below = 2
	shown := strings.Count(b.String(), "\n")
	b.WriteString(strings.Repeat("\n", max(0, s.height-below-shown)))
	b.WriteString(s.terminal.Paint(s.fit(s.detail()), display.Quiet) + "\n")
	b.WriteString(s.terminal.Paint(s.fit(s.keys()), display.Quiet))
	return b.String()
}

// painted colours a service's throttling and emphasizes the line under the cursor.
func (s *screen) painted(one *Service, chosen bool) func(column, string) string {
	return func(c column, text string) string {
		switch {
		case c.judged:
			return s.terminal.Paint(text, one.tone())
		case chosen:
			return s.terminal.Paint(text, display.Strong)
		}
		return text
	}
}

// detail is the line about the chosen service: process, group and command.
func (s *screen) detail() string {
	at := s.at()
	if at < 0 {
		return ""
	}
	one := s.sorted[at]
	text := fmt.Sprintf("pid %d", one.Main.PID)
	if n := len(one.All); n > 1 {
		text += fmt.Sprintf(" of %d processes", n)
	}
	text += ", limit set by " + display.Plain(one.Main.CPU.SetBy)
	return text + ": " + display.Plain(one.Main.Shown())
}

// summary is the first line.
func (s *screen) summary() string {
	text := s.answer()
	if s.options.Filter != "" && !s.typing {
		text += fmt.Sprintf("; only %q", s.options.Filter)
	}
	if s.paused {
		text = "PAUSED: " + text
	}
	return text
}

// answer describes how many services are throttled.
func (s *screen) answer() string {
	if s.looks == 0 {
		return "reading the processes of this host…"
	}
	throttled := 0
	var over time.Duration
	for _, one := range s.services {
		over = max(over, one.Recent().Length)
		if one.tone() != display.Normal {
			throttled++
		}
	}
	switch {
	case len(s.services) == 0:
		return nothing(s.options, 0)
	case over == 0:
		return fmt.Sprintf("%s under a CPU limit; figures follow with the next reading", services(len(s.services)))
	case throttled == 0:
		return fmt.Sprintf("%s under a CPU limit, none throttled over the last %s; by %s", services(len(s.services)), seconds(over), s.options.Order)
	}
	return fmt.Sprintf("%s of %s under a CPU limit throttled over the last %s; by %s", display.Grouped(int64(throttled)), services(len(s.services)), seconds(over), s.options.Order)
}

func services(n int) string {
	if n == 1 {
		return "1 service"
	}
	return display.Grouped(int64(n)) + " services"
}

// seconds formats a time: "10 s", below 3 s with a decimal.
func seconds(d time.Duration) string {
	if d < 3*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

func (s *screen) keys() string {
	if s.typing {
		return "/" + s.options.Filter + "█   enter: apply   esc: clear"
	}
	return "↑↓ choose   enter findings   s sort   / filter   p pause   q quit"
}

// fit cuts a line to the terminal's width.
func (s *screen) fit(text string) string { return cut(text, s.terminal.Width) }

// findings are doctor's findings about the chosen service.
func (s *screen) findings() string {
	at := s.at()
	if at < 0 {
		return s.table()
	}
	var b strings.Builder
	switch f := s.found; {
	case f == nil:
		fmt.Fprintf(&b, "Watching %s for %s, as millicore doctor does…\n", display.Plain(s.sorted[at].Name), seconds(watch))
	case f.err != nil:
		fmt.Fprintf(&b, "%s\n", display.Problem(f.err))
	default:
		host, findings := about(f.host, f.dir)
		if err := paragraphs.Write(&b, host, findings, s.terminal); err != nil {
			return err.Error()
		}
		if b.Len() == 0 {
			b.WriteString("Nothing is mis-sized.\n")
		}
	}
	lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	most := max(1, s.height-2)
	s.scrolled = min(s.scrolled, max(0, len(lines)-most))
	lines = lines[s.scrolled:min(s.scrolled+most, len(lines))]
	text := strings.Join(lines, "\n")
	text += strings.Repeat("\n", max(1, s.height-len(lines)))
	return text + s.terminal.Paint(s.fit("esc back   ↑↓ scroll   p pause   q quit"), display.Quiet)
}

// about are the processes of a group, and doctor's findings about them.
func about(host inspect.Host, dir string) (inspect.Host, []doctor.Finding) {
	all := doctor.Examine(host)
	host.Processes = slices.DeleteFunc(slices.Clone(host.Processes), func(p inspect.Process) bool { return p.CPU.Dir != dir })
	inside := func(f doctor.Finding) bool {
		return slices.ContainsFunc(host.Processes, func(p inspect.Process) bool { return p.PID == f.PID })
	}
	return host, slices.DeleteFunc(all, func(f doctor.Finding) bool { return !inside(f) })
}
