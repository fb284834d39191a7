// Package tui shows full-screen pictures on a terminal, for the live views of `top` and
// `load`. It decides whether a terminal can show one, and configures Bubble Tea alike
// for all of them. What a picture shows is the model's.
package tui

import (
	"io"
	"math"
	"os"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"
)

// framesPerSecond is the maximum number of redraws. Bubble Tea's default of 60 uses more
// CPU time than computing the figures.
const framesPerSecond = 10

// Can reports whether a picture can be shown on out.
func Can(out *os.File) bool {
	return IsTerminal(out) && os.Getenv("TERM") != "dumb"
}

// IsTerminal reports whether a file is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// NewProgram returns a program that shows a model on out and reads keys from in; nil: it
// reads none. Signals are left to the caller.
func NewProgram(model tea.Model, in io.Reader, out io.Writer, options ...tea.ProgramOption) *tea.Program {
	return tea.NewProgram(model, append([]tea.ProgramOption{
		tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond)}, options...)...)
}

// View is a full-screen picture of lines of text.
func View(title, text string) tea.View {
	v := tea.NewView(text)
	v.AltScreen = true
	v.WindowTitle = title
	return v
}

// Off removes a full-screen picture whose program does not, and shows the cursor.
const Off = "\x1b[?1049l\x1b[?25h"

// SparkBar is the bar of one value of a sparkline between 0 and top. levels are the
// bars from the lowest to the highest. A value above 0 is drawn higher than 0. A value
// that was not measured (NaN) is a dot.
func SparkBar(v, top float64, levels string) rune {
	if math.IsNaN(v) {
		return '·'
	}
	bars := []rune(levels)
	level := 0.0
	if top > 0 {
		level = math.Ceil(v / top * float64(len(bars)-1))
	}
	return bars[int(min(max(level, 0), float64(len(bars)-1)))]
}
