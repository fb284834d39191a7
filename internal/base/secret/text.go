package secret

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// assigned is name=value in a query, a form, a connection string or a command.
	assigned = regexp.MustCompile(`([A-Za-z][A-Za-z0-9_.-]*)=("[^"]*"|'[^']*'|[^\s&;,"'` + "`" + `]+)`)
	// member is "name": "value" of JSON.
	member = regexp.MustCompile(`"([A-Za-z][A-Za-z0-9_.-]*)"\s*:\s*"((?:[^"\\]|\\.)+)"`)
	// token is a JSON Web Token: a header and claims, each an object of JSON in base64, and a
	// signature (RFC 7519).
	token = regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{3,}(\.[A-Za-z0-9_-]+)?`)
	// link begins a URL, up to a character that cannot be in one.
	link   = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>` + "`" + `]+`)
	port   = regexp.MustCompile(`^([0-9]*|\$\{[^}]*\}|\{\{[^}]*\}\})$`)
	option = regexp.MustCompile(`^--?([A-Za-z][A-Za-z0-9_.-]*)$`)
	// placeholder is the name of a value that a session captures, or a random value; not {{"text"}}.
	placeholder = regexp.MustCompile(`^([A-Za-z]+ )?\{\{[A-Za-z0-9_ -]+\}\}$`)
	setter      = regexp.MustCompile(`^(-{0,2})([A-Za-z_][A-Za-z0-9_.-]*)=(.+)$`)
)

// Masked is what is shown instead of a value.
func Masked(value string) string {
	if Hides(value) {
		return Mask
	}
	return value
}

// Text is a text without the passwords of its URLs, and without the values of its fields
// that are secrets.
func Text(text string) string { return Replace(text, Masked) }

// Words are the words of a command without secrets. See ReplaceWords.
func Words(command []string) []string { return ReplaceWords(command, Masked) }

// Hides reports whether a value hides something: it is not empty, not hidden already, and
// not just the ${name} of a value that is filled in later, or a placeholder of a request, perhaps
// after the scheme of a header: Bearer {{token}}.
func Hides(value string) bool {
	name := strings.HasPrefix(value, "${") && strings.IndexByte(value, '}') == len(value)-1
	return value != "" && !name && !placeholder.MatchString(value) && !Hidden(value)
}

// Hidden reports whether a value was replaced by Mask. Older records have numbers in it.
func Hidden(value string) bool { return strings.Contains(value, "(redacted") }

// Replace replaces each secret in a text: the passwords of its URLs, the values of the fields
// name=value and "name": "value" whose names are those of secrets, and JSON Web Tokens.
func Replace(text string, by func(value string) string) string {
	text = link.ReplaceAllStringFunc(text, func(url string) string {
		from, to := passwordIn(url)
		if from == to {
			return url
		}
		return url[:from] + by(url[from:to]) + url[to:]
	})
	text = member.ReplaceAllStringFunc(text, func(s string) string {
		m := member.FindStringSubmatchIndex(s)
		if !Field(s[m[2]:m[3]]) {
			return s
		}
		return s[:m[4]] + by(s[m[4]:m[5]]) + s[m[5]:]
	})
	text = assigned.ReplaceAllStringFunc(text, func(s string) string {
		name, value, _ := strings.Cut(s, "=")
		if !Field(name) {
			return s
		}
		bare := strings.Trim(value, `"'`)
		if after := by(bare); after != bare {
			return name + "=" + after
		}
		return s
	})
	return token.ReplaceAllStringFunc(text, by)
}

// passwordIn finds the password of a URL; from equals to if it has none. A password with
// an unescaped / ends the host for a parser of URLs: it extends to the last @ of the text.
func passwordIn(url string) (from, to int) {
	start := strings.Index(url, "://") + len("://")
	rest := url[start:]
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	at := strings.LastIndexByte(rest[:end], '@')
	colon := strings.IndexByte(rest[:end], ':')
	if at < 0 && colon >= 0 && !port.MatchString(rest[colon+1:end]) {
		at = strings.LastIndexByte(rest, '@')
	}
	if colon < 0 || colon > at {
		return 0, 0
	}
	return start + colon + 1, start + at
}

// ReplaceWords replaces each secret in the words of a command: those of Replace, the values
// of assignments to variables that are secrets, as in env TOKEN=x, and the words after
// flags that are, as in --password x.
func ReplaceWords(command []string, by func(value string) string) []string {
	all := slices.Clone(command)
	for i, word := range all {
		if m := setter.FindStringSubmatch(word); m != nil && (Field(m[2]) || m[1] == "" && Variable(m[2])) {
			all[i] = m[1] + m[2] + "=" + by(m[3])
			continue
		}
		if i > 0 && !strings.HasPrefix(word, "-") {
			if m := option.FindStringSubmatch(command[i-1]); m != nil && Field(m[1]) {
				all[i] = by(word)
				continue
			}
		}
		all[i] = Replace(word, by)
	}
	return all
}

// Scrub returns a function that removes values from texts of others, such as the output
// of a service in an error. A short or common word is no value that it could remove
// without destroying the text: those are hidden only where they are written.
func Scrub(values []string) func(string) string {
	var pairs []string
	values = slices.Clone(values)
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) }) // a value may begin with another one
	for _, v := range slices.Compact(values) {
		if Hides(v) && distinctive(v) {
			pairs = append(pairs, v, Mask)
		}
	}
	if pairs == nil {
		return func(text string) string { return text }
	}
	return strings.NewReplacer(pairs...).Replace
}

// distinctive reports whether a value can hardly be in a text by chance.
func distinctive(value string) bool {
	const short, long = 8, 16 // in bytes
	word := !strings.ContainsFunc(value, func(r rune) bool { return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') })
	return len(value) >= long || len(value) >= short && !word
}
