package experiments

import (
	"slices"
	"testing"
)

// A name stands before the names that begin with it, as people look for it.
func TestNamesAreSorted(t *testing.T) {
	names := Names()
	if !slices.IsSorted(names) || slices.Index(names, "go-vs-bun") > slices.Index(names, "go-vs-bun-mongodb") {
		t.Errorf("%q", names)
	}
}
