package live

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/signals"
)

// beat is how often the picture is looked after. Frames come once a second; more
// often only the clock goes on.
const beat = 500 * time.Millisecond

// The picture is drawn on the terminal's other screen, which holds no history: it
// is not broken again where the terminal gets narrower, and when it is left, what
// stood there before stands there again. Lines that a terminal takes to be longer
// than they are here are cut by it.
const (
	enter = ansi.SetModeAltScreenSaveCursor + ansi.HideCursor + ansi.ResetModeAutoWrap
	leave = ansi.SetModeAutoWrap + ansi.ShowCursor + ansi.ResetModeAltScreenSaveCursor
)

// form is how a run is shown.
type form int

const (
	lines   form = iota
	picture      // drawn again in its place
	nothing      // the picture is gone permanently
)

// Screen shows a run on a terminal, or writes its lines.
type Screen struct {
	out   *os.File
	shows form
	ended func() bool // whether the target has ended; nil: it is not watched

	mu    sync.Mutex
	state *State
	up    bool     // the other screen is shown
	drawn string   // what it shows
	held  []string // notes to be printed once it is left

	over    chan struct{}
	stopped sync.WaitGroup
}

// Show begins to show a run on out until End. ended reports whether the target has
// ended; it may be nil. When ctx ends, the picture goes at once: whatever ends the
// program then leaves the terminal as it was.
func Show(ctx context.Context, out *os.File, p Plan, ended func() bool) *Screen {
	s := &Screen{out: out, ended: ended, state: New(p), over: make(chan struct{})}
	if drawable(out) {
		s.shows = picture
	}
	s.stopped.Go(func() { s.run(ctx) })
	return s
}

// drawable reports whether pictures can be drawn on out.
func drawable(out *os.File) bool {
	return term.IsTerminal(int(out.Fd())) && os.Getenv("TERM") != "dumb"
}

// Seen takes in a frame.
func (s *Screen) Seen(f *signals.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Add(f)
}

// Note shows a line for people. It stays when the picture is gone.
func (s *Screen) Note(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(strings.TrimRight(line, "\n"))
}

func (s *Screen) note(line string) {
	if s.up {
		s.held = append(s.held, line)
		s.state.Note(line)
		return
	}
	fmt.Fprintln(s.out, line)
}

// Write makes it a log.
func (s *Screen) Write(text []byte) (int, error) {
	s.Note(string(text))
	return len(text), nil
}

// End removes the picture, or writes the last line. It gives when the target was
// seen to have ended, from the load's beginning; 0: it was not.
func (s *Screen) End() (targetEnded time.Duration) {
	close(s.over)
	s.stopped.Wait()
	return s.state.ended
}

// run draws until the end.
func (s *Screen) run(ctx context.Context) {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	paused := make(chan os.Signal, 1)
	if s.shows == picture {
		signal.Notify(paused, syscall.SIGTSTP)
		defer signal.Stop(paused)
	}
	interrupted := ctx.Done()
	for {
		select {
		case <-ticker.C:
			s.tick(time.Now())
		case <-paused:
			s.pause()
		case <-interrupted:
			interrupted = nil
			s.interrupted()
		case <-s.over:
			s.last()
			return
		}
	}
}

// tick looks after the target, and shows what is new.
func (s *Screen) tick(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch(now)
	switch {
	case s.shows == nothing:
	case s.shows == lines:
		if text, ok := s.state.Line(false); ok {
			fmt.Fprintln(s.out, text)
		}
	case !foreground(s.out): // another program has the terminal
		s.leave()
	default:
		s.draw(now)
	}
}

// watch says once that the target has ended.
func (s *Screen) watch(now time.Time) {
	if s.ended != nil && s.ended() {
		s.state.TargetEnded(now)
		s.note(s.state.Death())
		s.ended = nil
	}
}

// draw draws the picture, unless it stands there already.
func (s *Screen) draw(now time.Time) {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		width, height = 80, 24
	}
	t := display.TerminalOf(s.out)
	t.Width = width
	text := painted(s.state.Draw(now, t, height), height)
	if s.up && text == s.drawn {
		return
	}
	s.drawn = text
	if !s.up {
		s.up, text = true, enter+text
	}
	fmt.Fprint(s.out, text)
}

// painted is what puts lines onto a screen in one go: without flicker, and over
// whatever was typed there.
func painted(lines []string, height int) string {
	var b strings.Builder
	b.WriteString(ansi.SetModeSynchronizedOutput + ansi.CursorHomePosition)
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(ansi.EraseEntireLine + line) // erased first: at its end a full line has no cell to spare
	}
	if len(lines) < height {
		b.WriteString("\r\n" + ansi.EraseScreenBelow)
	}
	b.WriteString(ansi.CursorHomePosition + ansi.ResetModeSynchronizedOutput)
	return b.String()
}

// leave gives the terminal back, and prints what was held back.
func (s *Screen) leave() {
	if !s.up {
		return
	}
	s.up = false
	fmt.Fprint(s.out, leave)
	for _, line := range s.held {
		fmt.Fprintln(s.out, line)
	}
	s.held = nil
}

// interrupted says why it takes a while yet.
func (s *Screen) interrupted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave()
	if s.shows == picture {
		s.shows = nothing
	}
	what := "what is in flight"
	if s.state.clients > 0 {
		what = display.Counted(s.state.inFlight, "request") + " in flight"
	}
	fmt.Fprintf(s.out, "ending: %s may still be answered; Ctrl-C ends at once\n", what)
}

// pause gives the terminal back while the program is stopped (Ctrl-Z).
func (s *Screen) pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave()
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) // it goes on here
}

// last removes the picture, or writes the last line.
func (s *Screen) last() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch(time.Now())
	s.leave()
	if s.shows != lines {
		return
	}
	if text, ok := s.state.Line(true); ok {
		fmt.Fprintln(s.out, text)
	}
	fmt.Fprintln(s.out)
}

// foreground reports whether the terminal is this program's to draw on; one that was
// sent to the background draws over what its user does meanwhile.
func foreground(terminal *os.File) bool {
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}
