// Package display writes figures, units, foreign text and tables for people, in the
// same way in every output: 1,234, 99.96%, 1.46 s. It knows no records and writes no
// sentences: tables are declared by package report, sentences by package narrative.
//
// Absent stands for what was not measured; it is never shown as 0.
package display

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Plain makes a text safe to print on one line: a field of a report, a cell of a table. White space of every
// kind becomes a space.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, Clean(text))
}

// markdownSpecial are the characters that mean something in Markdown or in the
// HTML that it lets through.
var markdownSpecial = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
)

// Escaped makes foreign text show in Markdown as it is, on one line.
func Escaped(text string) string { return markdownSpecial.Replace(Plain(text)) }

// Capital gives a text a capital letter, unless it begins with a name such as
// p99.
func Capital(text string) string {
	first, rest := utf8.DecodeRuneInString(text)
	if next, _ := utf8.DecodeRuneInString(text[rest:]); rest == 0 || unicode.IsDigit(next) {
		return text
	}
	return string(unicode.ToUpper(first)) + text[rest:]
}

// Width is how many columns of a terminal a text takes: its widest line.
func Width(text string) int {
	widest := 0
	for line := range strings.Lines(text) {
		widest = max(widest, ansi.StringWidth(strings.TrimSuffix(line, "\n")))
	}
	return widest
}

// Said quotes, after what it belongs to, a text with which a service explained something; ""
// if it said nothing.
func Said(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(" (the service says: %q)", Plain(text))
}
