package live

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/test/testkit/golden"
)

// states are the fixtures by name, with how long their load has run.
var states = map[string]struct {
	*State
	ran time.Duration
}{
	"begins":       {New(plan()), 0},
	"closed":       {closed(), 6200 * time.Millisecond},
	"open":         {open(), 6200 * time.Millisecond},
	"stages":       {stages(), 3 * time.Second},
	"target":       {target(), 6 * time.Second},
	"target-ended": {targetEnded(), 7 * time.Second},
	"errors-only":  {errorsOnly(), 4 * time.Second},
	"some-errors":  {someErrors(), 7 * time.Second},
	"unanswered":   {unanswered(), 2 * time.Second},
	"warming-up":   {warmingUp(), time.Second},
	"draining":     {draining(), 9 * time.Second},
	"requests":     {counted10000(), 2 * time.Second},
	"long":         {long(), 100 * time.Second},
}

// TestPictures compares each picture with a file.
func TestPictures(t *testing.T) {
	type size struct{ width, height int }
	wide, middle, narrow := size{100, 40}, size{60, 20}, size{40, 15}
	for name, sizes := range map[string][]size{
		"begins": {wide, narrow}, "closed": {wide, middle, narrow, {80, 24}, {24, 6}}, "open": {wide, narrow}, "stages": {wide, narrow},
		"target": {wide, middle, narrow}, "target-ended": {wide, narrow}, "errors-only": {wide, narrow}, "some-errors": {wide, {80, 24}, narrow},
		"unanswered": {wide}, "warming-up": {wide, middle}, "draining": {wide}, "requests": {wide}, "long": {wide, middle},
	} {
		for _, at := range sizes {
			s := states[name]
			hold(t, fmt.Sprintf("%s-%dx%d.txt", name, at.width, at.height),
				s.Draw(begin.Add(s.ran), display.Terminal{Width: at.width}, at.height))
		}
	}
	for _, name := range []string{"target-ended", "open"} {
		s := states[name]
		hold(t, name+"-colours.txt", s.Draw(begin.Add(s.ran), display.Terminal{Width: 80, Colour: true}, 40))
	}
}

// hold compares lines with a file.
func hold(t *testing.T, name string, lines []string) {
	t.Run(name, func(t *testing.T) { golden.Check(t, name, strings.Join(lines, "\n")+"\n") })
}

func TestPicturesFitTheTerminal(t *testing.T) {
	for name, s := range states {
		for _, width := range []int{1, 5, 12, 24, 33, 40, 52, 60, 80, 101, 140} {
			for _, height := range []int{1, 2, 3, 4, 5, 8, 10, 13, 14, 15, 17, 20, 24, 30, 45} {
				lines := s.Draw(begin.Add(s.ran), display.Terminal{Width: width, Colour: width%2 == 0}, height)
				if len(lines) > height || len(lines) == 0 {
					t.Fatalf("%s: %d lines on a terminal of %d", name, len(lines), height)
				}
				for _, line := range lines {
					if display.Width(line) > width || strings.Contains(line, "\n") {
						t.Fatalf("%s at %dx%d: a line of %d columns: %q", name, width, height, display.Width(line), line)
					}
				}
			}
		}
	}
}

func TestPicturesHaveNoForeignEscapes(t *testing.T) {
	p := plan()
	p.URL = "http://127.0.0.1/\x1b[31m"
	s := New(p)
	s.Note("agent 0: \x1b]0;title\a\x1b[2J")
	if text := strings.Join(s.Draw(begin, display.Terminal{Width: 100}, 40), "\n"); strings.ContainsAny(text, "\x1b\a") {
		t.Errorf("an escape sequence reached the terminal: %q", text)
	}
}

func BenchmarkDraw(b *testing.B) {
	s := long()
	for b.Loop() {
		s.Draw(begin.Add(100*time.Second), display.Terminal{Width: 100, Colour: true}, 40)
	}
}

func BenchmarkAdd(b *testing.B) {
	f := answered(0, 2000, 4*time.Millisecond)
	s := New(plan())
	for b.Loop() {
		f.Seq++
		s.Add(f)
	}
}
