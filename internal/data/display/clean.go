package display

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text of others fit for a terminal or a log: what would recolour it, move
// its cursor, or change the order of its letters becomes visible instead. A control
// character is shown as its picture (␛), another one that has no shape of its own as its
// number (<U+202E>), and a byte that is not UTF-8 as \xff. Line ends and tabs stay. The
// result is its own Clean. Nothing is left out, so two names that differ do so on the screen.
func Clean(text string) string {
	if !strings.ContainsFunc(text, unfit) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == utf8.RuneError || !unfit(r):
			b.WriteString(text[i : i+size])
		case r == '\r' && strings.HasPrefix(text[i+size:], "\n"): // a line end of Windows
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
		i += size
	}
	return b.String()
}

// unfit reports whether a terminal may do something with a character other than to show
// it. A byte that is not UTF-8 is decoded as a RuneError.
func unfit(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case '\u2028', '\u2029', utf8.RuneError:
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// WriteJSON writes a value as indented JSON. Characters that are unfit for a terminal are
// escaped, which leaves the value as it is: JSON may hold them raw.
func WriteJSON(w io.Writer, v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, escaped(b.String()))
	return err
}

// escaped escapes the unfit characters of a JSON text, which stand in strings only.
func escaped(text string) string {
	if !strings.ContainsFunc(text, unfit) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !unfit(r) || r == utf8.RuneError:
			b.WriteRune(r)
		case r > 0xffff:
			high, low := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
