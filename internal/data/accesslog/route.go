package accesslog

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Route is a method and a path without its query, of which ids are collapsed: "GET /users/{id}".
func (e *Entry) Route() string {
	path, _, _ := strings.Cut(e.Path, "?")
	parts := strings.Split(path, "/")
	for i, part := range parts {
		// Java's servers put the session behind the path: /cart;jsessionid=…
		part, _, _ = strings.Cut(part, ";")
		parts[i] = collapsed(part)
	}
	return cmp.Or(e.Method, "GET") + " " + strings.Join(parts, "/")
}

// collapsed is a part of a path without its id. A file keeps its extension, and of its name what
// is no hash: app.{id}.js.
func collapsed(part string) string {
	extension := files.FindString(part)
	name := strings.TrimSuffix(part, extension)
	switch {
	case webs.MatchString(part), extension == "" && slices.ContainsFunc(pieces.FindAllString(part, -1), isRandom):
		return "{id}"
	case isID(name):
		return "{id}" + extension
	case extension == "":
		return part
	}
	return pieces.ReplaceAllStringFunc(name, func(piece string) string {
		if isRandom(piece) {
			return "{id}"
		}
		return piece
	}) + extension
}

var (
	files   = regexp.MustCompile(`\.[A-Za-z][A-Za-z0-9]{0,4}$`)
	pieces  = regexp.MustCompile(`[A-Za-z0-9]+`)
	numbers = regexp.MustCompile(`^\d+$`)
	uuids   = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
	hexes   = regexp.MustCompile(`^[0-9a-fA-F]{8,}$`)
	webs    = regexp.MustCompile(`^eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9._-]+$`) // JSON Web Tokens
	keys    = regexp.MustCompile(`^[a-z]+(_[a-z]+)*_[A-Za-z0-9]{10,}$`)     // with a prefix: cus_NffrFeUfNV2Hib
	tokens  = regexp.MustCompile(`^[A-Za-z0-9_-]{20,}$`)
	slugs   = regexp.MustCompile(`^([A-Za-z]\w*-)+\d{4,}$|^[A-Za-z]+_\d{4,}$|^\d{4,}(-\w+)+$`) // how-to-cook-1234
)

// isID reports whether a text as a whole names one of many things: a number, a UUID, a key behind
// a prefix, a long token, or words with a number of four or more digits.
func isID(text string) bool {
	changes, groups, mixed := shape(text)
	return numbers.MatchString(text) || uuids.MatchString(text) || slugs.MatchString(text) ||
		keys.MatchString(text) && groups > 0 && mixed ||
		tokens.MatchString(text) && groups > 0 && mixed && 3*changes >= len(text)
}

// isRandom reports whether letters and digits are a hash or a random token: at least 12
// hexadecimal digits, or 8 with two numbers among them; 8 characters with two numbers and four
// changes; or 20 with two numbers. Shorter ones, and those of letters alone, may be words.
func isRandom(piece string) bool {
	changes, groups, _ := shape(piece)
	return hexes.MatchString(piece) && (len(piece) >= 12 && !numbers.MatchString(piece) || groups >= 2) ||
		groups >= 2 && (len(piece) >= 20 || len(piece) >= 8 && changes >= 4)
}

// shape counts the changes between letters and digits, and from lower case to upper case, which
// words have few of; and the groups of digits. mixed: there are letters of both cases.
func shape(text string) (changes, groups int, mixed bool) {
	last := '-'
	for _, r := range text {
		digit, after := unicode.IsDigit(r), unicode.IsDigit(last)
		if digit && !after {
			groups++
		}
		if unicode.IsLetter(r) && after || digit && unicode.IsLetter(last) || unicode.IsUpper(r) && unicode.IsLower(last) {
			changes++
		}
		last = r
	}
	return changes, groups, strings.ToLower(text) != text && strings.ToUpper(text) != text
}
