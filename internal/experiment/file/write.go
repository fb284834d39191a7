package file

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// yaml is a map as YAML that readTree reads as the same. A map is written over
// several lines where something in it is no single value, and in one otherwise.
func (n *node) yaml() []byte {
	var b strings.Builder
	n.block(&b, 0)
	return []byte(b.String())
}

func (n *node) block(b *strings.Builder, depth int) {
	for _, e := range n.entries {
		b.WriteString(strings.Repeat("  ", depth) + scalarText(e.key) + ":")
		if e.value.kind == mapNode && !e.value.flat() {
			b.WriteByte('\n')
			e.value.block(b, depth+1)
			continue
		}
		b.WriteString(" " + e.value.flow() + "\n")
	}
}

// flat reports whether all values of a map are single values.
func (n *node) flat() bool {
	return !slices.ContainsFunc(n.entries, func(e *entry) bool {
		return e.value.kind == mapNode || e.value.kind == listNode
	})
}

// flow is the value in one line.
func (n *node) flow() string {
	var parts []string
	switch n.kind {
	case mapNode:
		for _, e := range n.entries {
			parts = append(parts, scalarText(e.key)+": "+e.value.flow())
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case listNode:
		for _, item := range n.items {
			parts = append(parts, item.flow())
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case scalarNode:
		return scalarText(n.text)
	}
	return "null"
}

var (
	// plainText is what every reader of YAML takes for the same letters: words,
	// paths and flags; numbers; quantities and lengths of time.
	plainText = regexp.MustCompile(`^(` +
		`(\./|--?)?[A-Za-z][A-Za-z0-9._/-]*` + `|/[A-Za-z0-9._/-]*` +
		`|(0|[1-9][0-9]{0,14})(\.[0-9]{1,9})?` +
		`|[1-9][0-9]*(\.[0-9]+)?([kMG]|[KMG]i)` + `|([0-9]+(\.[0-9]+)?(µs|ms|s|m|h))+` +
		`)$`)
	// otherValues are words that some reader takes for no text. Of true and false
	// experiments want the letters, and so they stay plain.
	otherValues = []string{"null", "yes", "no", "on", "off", "y", "n"}
)

// scalarText is a text as a plain or a double-quoted scalar. The escapes of
// strconv.Quote are all YAML's (section 5.7); only of bytes that are not UTF-8
// it makes characters, and so those stay as they are, for the reader to refuse.
func scalarText(text string) string {
	lower := strings.ToLower(text)
	capital := (lower == "true" || lower == "false") && lower != text
	switch {
	case !utf8.ValidString(text):
		return `"` + strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), `"`, `\"`) + `"`
	case plainText.MatchString(text) && !capital && !slices.Contains(otherValues, lower):
		return text
	}
	return strconv.Quote(text)
}
