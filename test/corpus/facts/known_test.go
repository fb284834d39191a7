package facts

import (
	"regexp"
	"testing"
)

// wrong is a kind of statement that is known to be wrong, and still made. The table only
// shrinks: an entry that no record needs any more fails the test.
type wrong struct {
	cases, text string // regular expressions
	why         string

	of, in *regexp.Regexp
	seen   bool
}

var knownWrong = []*wrong{}

// expected is why a statement that is known to be wrong is still made; "": it is not
// known.
func expected(name string, s statement) string {
	for _, w := range knownWrong {
		if w.of == nil {
			w.of, w.in = regexp.MustCompile("^(?:"+w.cases+")$"), regexp.MustCompile(w.text)
		}
		if w.of.MatchString(name) && w.in.MatchString(s.String()) {
			w.seen = true
			return w.why
		}
	}
	return ""
}

// shrink fails for entries that no statement needed.
func shrink(t *testing.T) {
	t.Helper()
	for _, w := range knownWrong {
		if !w.seen {
			t.Errorf("no statement of %s is wrong any more because %s: remove the entry of knownWrong", w.cases, w.why)
		}
	}
}
