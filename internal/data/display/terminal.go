package display

import (
	"io"
	"os"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"golang.org/x/term"
)

// Terminal is what an output can show.
type Terminal struct {
	Colour bool // use the terminal's own colours; else plain text
	Width  int  // columns; 0: no limit
}

// unknownWidth is the width of an output that has none: a pipe or a file.
const unknownWidth = 80

// Colours are the values of --color. The first is the default: terminals have colours,
// unless NO_COLOR (no-color.org) or TERM=dumb is set.
var Colours = []string{"auto", "always", "never"}

// colours is one of Colours, for all outputs of the program.
var colours = Colours[0]

// UseColours sets when outputs have colours: one of Colours. The program calls it once,
// before it writes.
func UseColours(when string) { colours = when }

// TerminalOf finds what an output can show: its width, which is that of COLUMNS or 80 if
// it is no terminal, and whether it has colours (see UseColours).
func TerminalOf(out io.Writer) Terminal {
	t := Terminal{Width: unknownWidth, Colour: colours == "always"}
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		t.Width = columns
	}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		t.Colour = t.Colour || colours == "auto" && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			t.Width = width
		}
	}
	return t
}

// narrowest is the width below which text is not broken further.
const narrowest = 20

// The characters that keep their neighbours on one line.
const (
	fixedSpace = "\u00a0"
	fixedDash  = "\u2011"
)

var (
	// whole keeps a condition, such as p99 <= 250ms, and what has a hyphen, such as --cpu
	// and -XX:ActiveProcessorCount=2, whole.
	whole = strings.NewReplacer(" <= ", fixedSpace+"<="+fixedSpace, " >= ", fixedSpace+">="+fixedSpace, "-", fixedDash)
	// asWritten is its inverse.
	asWritten = strings.NewReplacer(fixedSpace, " ", fixedDash, "-")
)

// Wrap breaks a text at the terminal's width, each line after an indent.
func (t Terminal) Wrap(text, indent string) string {
	if t.Width > 0 {
		text = asWritten.Replace(lipgloss.Wrap(whole.Replace(text), max(narrowest, t.Width-len(indent)), " "))
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = indent + strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// Tone is how a text stands out if there are colours.
type Tone int

const (
	Normal Tone = iota
	Quiet       // belongs to what stands beside it
	Strong
	Good
	Warning
	Bad
)

// Paint renders lines in a tone, or leaves them plain.
func (t Terminal) Paint(text string, tone Tone) string {
	if !t.Colour || tone == Normal {
		return text
	}
	style := t.style(lipgloss.NewStyle(), tone)
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = style.Render(lines[i])
	}
	return strings.Join(lines, "\n")
}

// Line writes a text on lines of its own, broken and painted.
func (t Terminal) Line(text string, tone Tone) string {
	return t.Paint(t.Wrap(text, ""), tone) + "\n"
}

// style adds a tone to a style. Colours are of the terminal's own sixteen: they
// fit its background, light or dark.
func (t Terminal) style(base lipgloss.Style, tone Tone) lipgloss.Style {
	if !t.Colour {
		return base
	}
	switch tone {
	case Quiet:
		return base.Faint(true)
	case Strong:
		return base.Bold(true)
	case Good:
		return base.Foreground(lipgloss.Green)
	case Warning:
		return base.Foreground(lipgloss.Yellow)
	case Bad:
		return base.Foreground(lipgloss.Red)
	}
	return base
}
