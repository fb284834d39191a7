package openapi

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// formats are texts of formats (https://spec.openapis.org/registry/format).
var formats = map[string]string{
	"uuid": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "date": "2026-01-01", "date-time": "2026-01-01T00:00:00Z",
	"time": "12:00:00Z", "duration": "PT1S", "email": "user@example.com", "idn-email": "user@example.com",
	"uri": "https://example.com/", "url": "https://example.com/", "iri": "https://example.com/", "uri-reference": "/",
	"hostname": "example.com", "idn-hostname": "example.com", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
	"byte": "YQ==", "base64": "YQ==", "base64url": "YQ", "json-pointer": "/a", "regex": "a",
	"int32": "1", "int64": "1", "int": "1", "integer": "1", "decimal": "1", "float": "1", "double": "1",
}

// anyText is the text of a schema that says no more.
const anyText = "string"

// text is a text of a schema: of its pattern, its format or its length. A pattern that cannot
// be met, such as one with a look ahead, has no effect.
func (d *document) text(m *object) string {
	least := int(min(figure(m, "minLength", 0), mostValues))
	most := int(figure(m, "maxLength", mostValues))
	if pattern := m.text("pattern"); pattern != "" {
		key := fmt.Sprint(least, most, pattern)
		found, known := d.texts[key]
		if !known {
			found.text, found.ok = matching(pattern, least, most)
			d.texts[key] = found
		}
		if found.ok {
			return found.text
		}
	}
	if text, known := formats[m.text("format")]; known {
		return text
	}
	text := anyText
	if len(text) < least {
		text += strings.Repeat("x", least-len(text))
	}
	return text[:min(len(text), most)]
}

// match is a text of a pattern, if there is one.
type match struct {
	text string
	ok   bool
}

// mostPattern bounds the length of a pattern, because trying it takes as long.
const mostPattern = 1_000

// matching is a text that matches a pattern, with so many characters.
func matching(pattern string, least, most int) (string, bool) {
	if len(pattern) > mostPattern {
		return "", false
	}
	match, err := regexp.Compile(pattern)
	if err != nil {
		return "", false
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	written, before, steps := 0, -1, 0
	for repeats := 1; repeats <= max(1, least) && written < mostValues; repeats++ {
		b := expansion{steps: &steps}
		if !b.expand(parsed, repeats) {
			return "", false
		}
		text := b.String()
		if len(text) == before {
			return "", false // more repeats make it no longer
		}
		before = len(text)
		written += len(text)
		if n := utf8.RuneCountInString(text); n >= least && n <= most && match.MatchString(text) {
			return text, true
		}
	}
	return "", false
}

// expansion is a text of an expression.
type expansion struct {
	strings.Builder
	steps *int // of all expansions of a pattern: what repeats may be empty, so the text's length bounds nothing
}

// mostSteps bounds the steps for a pattern.
const mostSteps = 100_000

// expand writes a text of an expression. What may repeat does so as often as repeats, if it
// can.
func (b *expansion) expand(e *syntax.Regexp, repeats int) bool {
	if *b.steps++; *b.steps > mostSteps || b.Len() > mostValues {
		return false
	}
	times, least, most := 1, 0, repeats
	switch e.Op {
	case syntax.OpLiteral:
		b.WriteString(string(e.Rune))
		return true
	case syntax.OpCharClass:
		b.WriteRune(member(e.Rune))
		return true
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
		return true
	case syntax.OpNoMatch:
		return false
	case syntax.OpAlternate:
		return b.expand(e.Sub[0], repeats)
	case syntax.OpQuest:
		times = 0
	case syntax.OpStar, syntax.OpPlus:
		times = repeats
	case syntax.OpRepeat:
		if least = e.Min; e.Max >= 0 {
			most = e.Max
		}
		times = max(least, min(repeats, most))
	}
	for range times {
		for _, sub := range e.Sub {
			if !b.expand(sub, repeats) {
				return false
			}
		}
	}
	return true
}

// member is a character of a class, which is pairs of first and last ones; a plain one if it
// has any.
func member(class []rune) rune {
	in := func(c rune) bool {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= c && c <= class[i+1] {
				return true
			}
		}
		return false
	}
	for _, c := range "a1Ab0-_. " {
		if in(c) {
			return c
		}
	}
	for c := rune('!'); c < unicode.MaxASCII; c++ {
		if in(c) {
			return c
		}
	}
	if len(class) == 0 {
		return 'a'
	}
	return class[0]
}
