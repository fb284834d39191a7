package answer_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/show/answer"
	"github.com/millicore/millicore/test/testkit/golden"
)

// text is the answer of a record, a line each.
func text(s *summary.Summary) string {
	a := answer.Of(s)
	return strings.Join(append(a.Lines(), a.Caveats...), "\n")
}

// sentences compares answers, by what they are about, with a file of testdata that was read
// by a person, and counts their words.
func sentences(t *testing.T, name string, got map[string]string) {
	t.Helper()
	var b strings.Builder
	for _, about := range slices.Sorted(maps.Keys(got)) {
		fmt.Fprintf(&b, "# %s\n%s\n\n", about, got[about])
		if n := len(strings.Fields(got[about])); n > most {
			t.Errorf("%s: %d words, want at most %d", about, n, most)
		}
	}
	golden.Check(t, name, b.String())
}
