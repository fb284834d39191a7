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

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/millicore/millicore/internal/base/tui"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/signals"
)

// tickEvery is how often the screen is updated. Frames arrive once per second; between
// them only the clock changes.
const tickEvery = 500 * time.Millisecond

// mode is how a run is shown.
type mode int

const (
	lines   mode = iota // plain lines
	picture             // a full-screen picture
	nothing             // the picture was removed by an interrupt
)

// Screen shows a run: as a picture on a terminal, otherwise as lines.
type Screen struct {
	out   *os.File
	mode  mode
	view  *view       // the picture; nil: it is not on the terminal
	keys  chan string // that end or suspend the picture
	ended func() bool // whether the observed process has ended; nil: it is not observed, or has ended

	mu    sync.Mutex
	state *State
	held  []string // messages for after the picture
	hold  bool     // messages are held

	over    chan struct{}
	stopped sync.WaitGroup
}

// Show starts to show a run on out, until End. ended reports whether the observed
// process has ended; it may be nil. When ctx ends, the picture is removed at once, so
// that the terminal is in its normal state however the program ends.
func Show(ctx context.Context, out *os.File, p Plan, ended func() bool) *Screen {
	s := &Screen{out: out, ended: ended, keys: make(chan string, 1), state: New(p), over: make(chan struct{})}
	if tui.Can(out) {
		s.mode = picture
	}
	s.stopped.Go(func() { s.run(ctx) })
	return s
}

// Seen adds a frame.
func (s *Screen) Seen(f *signals.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Add(f)
}

// Note shows a message. It remains on the terminal after the picture.
func (s *Screen) Note(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line = display.Clean(strings.TrimRight(line, "\n"))
	if s.hold {
		s.held = append(s.held, line)
		s.state.Note(line)
		return
	}
	fmt.Fprintln(s.out, onLines(s.out, line))
}

// onLines breaks a message at the width of a terminal. In a file it stays one line.
func onLines(out *os.File, line string) string {
	if !term.IsTerminal(int(out.Fd())) {
		return line
	}
	return display.TerminalOf(out).Wrap(line, "")
}

// Write makes a Screen a log.
func (s *Screen) Write(text []byte) (int, error) {
	s.Note(string(text))
	return len(text), nil
}

// End removes the picture, or writes the last line. It returns when the observed process
// ended, from the begin of the load; 0: it did not.
func (s *Screen) End() (targetEnded time.Duration) {
	close(s.over)
	s.stopped.Wait()
	return s.state.ended
}

// run updates the screen until End.
func (s *Screen) run(ctx context.Context) {
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	suspended := make(chan os.Signal, 1)
	if s.mode == picture {
		signal.Notify(suspended, syscall.SIGTSTP)
		defer signal.Stop(suspended)
	}
	interrupted := ctx.Done()
	for {
		select {
		case <-ticker.C:
			s.tick(time.Now())
		case <-s.view.closed(): // it could not use the terminal
			s.hide()
			s.mode = lines
		case key := <-s.keys:
			s.key(key)
		case <-suspended:
			s.suspend()
		case <-interrupted:
			interrupted = nil
			s.interrupted()
		case <-s.over:
			s.last()
			return
		}
	}
}

// tick checks the observed process, and shows what is new.
func (s *Screen) tick(now time.Time) {
	s.checkTarget(now)
	switch {
	case s.mode == lines:
		s.line(false)
	case s.mode == picture && s.view == nil && foreground(s.out):
		s.show()
	}
}

// checkTarget reports once that the observed process has ended.
func (s *Screen) checkTarget(now time.Time) {
	if s.ended == nil || !s.ended() {
		return
	}
	s.ended = nil
	s.mu.Lock()
	s.state.TargetEnded(now)
	message := s.state.Death()
	s.mu.Unlock()
	s.Note(message)
}

// line writes the next line, if it is due; at the end it is.
func (s *Screen) line(end bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text, ok := s.state.Line(end, display.TerminalOf(s.out).Width); ok {
		fmt.Fprintln(s.out, text)
	}
}

// show puts the picture on the terminal.
func (s *Screen) show() {
	s.mu.Lock()
	s.hold = true
	s.mu.Unlock()
	s.view = newView(s)
}

// hide removes the picture, and writes the messages that were held.
func (s *Screen) hide() {
	if s.view == nil {
		return
	}
	s.view.quit()
	s.view = nil
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.held {
		fmt.Fprintln(s.out, onLines(s.out, line))
	}
	s.held, s.hold = nil, false
}

// key handles a key that the terminal would turn into a signal, were it not for the
// picture.
func (s *Screen) key(key string) {
	switch key {
	case "ctrl+c":
		s.hide() // first, so that a second Ctrl-C is a signal again
		s.mode = nothing
		s.signal(syscall.SIGINT)
	case "ctrl+z":
		s.signal(syscall.SIGTSTP) // run handles it
	}
}

// signal sends a signal to those who would get it from the terminal: all programs of
// this job, such as the others of a pipe. Where the terminal does not control this job,
// only this program gets it.
func (s *Screen) signal(sig syscall.Signal) {
	to := os.Getpid()
	if group, err := unix.IoctlGetInt(int(s.out.Fd()), unix.TIOCGPGRP); err == nil && group == unix.Getpgrp() {
		to = 0
	}
	_ = syscall.Kill(to, sig)
}

// suspend removes the picture and stops the program. When it continues in the
// foreground, the next tick shows the picture again.
func (s *Screen) suspend() {
	s.hide()
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
}

// interrupted removes the picture permanently, and reports what the program waits for.
func (s *Screen) interrupted() {
	s.hide()
	if s.mode == picture {
		s.mode = nothing
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	what := "the requests in flight"
	if s.state.clients > 0 {
		what = display.Counted(s.state.inFlight, "request") + " in flight"
	}
	fmt.Fprintf(s.out, "ending: waiting for %s; press Ctrl-C again to end at once\n", what)
}

// last removes the picture, or writes the last line.
func (s *Screen) last() {
	s.checkTarget(time.Now())
	s.hide()
	if s.mode == lines {
		s.line(true)
		fmt.Fprintln(s.out)
	}
}

// foreground reports whether this program may draw on the terminal. If it runs in the
// background, the terminal belongs to another program.
func foreground(terminal *os.File) bool {
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}
