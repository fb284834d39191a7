package narrative

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/test/testkit/golden"
)

// sentences compares sentences, by what they are about, with a file of testdata that
// was read by a person. A test of a finding does not rest on it alone.
func sentences(t *testing.T, name string, got map[string]string) {
	t.Helper()
	var b strings.Builder
	for _, about := range slices.Sorted(maps.Keys(got)) {
		fmt.Fprintf(&b, "# %s\n%s\n\n", about, got[about])
	}
	golden.Check(t, name, b.String())
}
