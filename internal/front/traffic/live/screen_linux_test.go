package live

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/test/testkit"
)

// terminal is a pseudo-terminal with 80 columns and 24 lines, and what was written to it.
type terminal struct {
	*os.File
	mu   sync.Mutex
	text strings.Builder
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("needs pseudo-terminals: %v", err)
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("needs pseudo-terminals: %v", err)
	}
	one := &terminal{File: slave}
	one.resize(t, 80, 24)
	go func() {
		for b := make([]byte, 4096); ; {
			n, err := master.Read(b)
			one.mu.Lock()
			one.text.Write(b[:n])
			one.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { slave.Close(); master.Close() })
	return one
}

func (o *terminal) resize(t *testing.T, width, height uint16) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(o.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: width, Row: height}); err != nil {
		t.Fatal(err)
	}
}

func (o *terminal) written() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// awaits waits until a text was written after another.
func (o *terminal) awaits(t *testing.T, before, text string) {
	t.Helper()
	testkit.Value(t, fmt.Sprintf("%q is written after %q", text, before), func() (struct{}, error) {
		written := o.written()
		if _, behind, ok := strings.Cut(written, before); !ok || !strings.Contains(behind, text) {
			return struct{}{}, fmt.Errorf("written was %q", written)
		}
		return struct{}{}, nil
	})
}

// The sequences by which a picture appears and disappears.
const (
	enter = ansi.SetModeAltScreenSaveCursor
	leave = ansi.ResetModeAltScreenSaveCursor
)

func TestAPictureIsShownAndRemoved(t *testing.T) {
	on := newTerminal(t)
	s := Show(t.Context(), on.File, plan(), nil)
	s.Seen(answered(0, 100, time.Second))
	on.awaits(t, enter, "100 requests/s")
	s.Note("a note\n")
	on.awaits(t, enter, "a note")
	s.End()
	on.awaits(t, leave, "a note\r\n")
	text := on.written()
	if strings.Count(text, enter) != 1 || strings.Count(text, leave) != 1 {
		t.Errorf("the picture appears %d times and disappears %d times, want once", strings.Count(text, enter), strings.Count(text, leave))
	}
	if _, after, _ := strings.Cut(text, leave); !strings.HasSuffix(after, "a note\r\n") || strings.Contains(after, "requests/s") {
		t.Errorf("after the picture: %q", after)
	}
}

func TestThePictureFitsTheTerminal(t *testing.T) {
	s := &Screen{state: New(plan())}
	s.Seen(answered(0, 100, time.Second))
	m := &model{screen: s}
	for _, size := range []tea.WindowSizeMsg{{Width: 80, Height: 24}, {Width: 40, Height: 10}, {Width: 20, Height: 3}} {
		m.Update(size)
		picture := strings.Split(m.View().Content, "\n")
		if len(picture) > size.Height {
			t.Errorf("%d lines on a terminal of %d", len(picture), size.Height)
		}
		for _, line := range picture {
			if display.Width(line) > size.Width {
				t.Errorf("%d columns on a terminal of %d: %q", display.Width(line), size.Width, line)
			}
		}
	}
}

func TestAnInterruptRemovesThePicture(t *testing.T) {
	on := newTerminal(t)
	ctx, interrupt := context.WithCancel(t.Context())
	s := Show(ctx, on.File, plan(), nil)
	s.Seen(answered(0, 100, time.Second))
	on.awaits(t, enter, "100 requests/s")
	interrupt()
	const ending = "ending: waiting for 20 requests in flight; press Ctrl-C again to end at once\r\n"
	on.awaits(t, leave, ending)
	s.Seen(answered(1, 200, time.Second))
	s.Note("why it ended")
	s.End()
	on.awaits(t, leave, "why it ended\r\n")
	if text := on.written(); strings.Count(text, enter) != 1 || !strings.HasSuffix(text, ending+"why it ended\r\n") {
		t.Errorf("after the picture: %q", text[strings.LastIndex(text, leave):])
	}
}

func TestLinesWithoutATerminal(t *testing.T) {
	for name, open := range map[string]func(*testing.T) *os.File{
		"a terminal without cursor movement": func(t *testing.T) *os.File {
			on := newTerminal(t)
			t.Setenv("TERM", "dumb")
			return on.File
		},
		"a file": func(t *testing.T) *os.File {
			f, err := os.CreateTemp(t.TempDir(), "")
			if err != nil {
				t.Fatal(err)
			}
			return f
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := Show(t.Context(), open(t), plan(), nil)
			if s.mode != lines {
				t.Error("a picture is drawn")
			}
			s.End()
		})
	}
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	p := plan()
	p.Target = "process 4711"
	died := make(chan bool)
	s := Show(t.Context(), f, p, func() bool { return <-died })
	s.Seen(used(0, 0.5, 3))
	s.Seen(answered(0, 100, time.Second))
	died <- false
	died <- true
	if ended := s.End(); ended <= 0 {
		t.Errorf("the target ended at %v", ended)
	}
	text, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	if got := string(text); !strings.HasPrefix(got, "   0:01      100/s  p99   8.77 s") || !strings.Contains(got, "process 4711 ended at ") || !strings.HasSuffix(got, "\n\n") {
		t.Errorf("got:\n%s", got)
	}
}
