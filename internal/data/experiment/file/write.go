package file

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// yaml is a map as YAML, from which readTree reads an equal map. A map of single
// values is written in one line, any other in several.
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
	// plainText has the same meaning to every YAML parser: words, paths and flags;
	// numbers; quantities and durations.
	plainText = regexp.MustCompile(`^(` +
		`(\./|--?)?[A-Za-z][A-Za-z0-9._/-]*` + `|/[A-Za-z0-9._/-]*` +
		`|(0|[1-9][0-9]{0,14})(\.[0-9]{1,9})?` +
		`|[1-9][0-9]*(\.[0-9]+)?([kMG]|[KMG]i)` + `|([0-9]+(\.[0-9]+)?(µs|ms|s|m|h))+` +
		`)$`)
	// otherValues are not text to some YAML parsers. true and false are not quoted,
	// because experiments read them as letters.
	otherValues = []string{"null", "yes", "no", "on", "off", "y", "n"}
)

// scalarText is a text as a plain or a double-quoted scalar. YAML has all escapes of
// strconv.Quote (section 5.7). Bytes that are not UTF-8 stay unchanged, so that the
// parser refuses them.
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
