package workload

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/millicore/millicore/test/testkit/racing"
)

// The cache of the sample services may be in the home of another user.
func TestLinksInTheCache(t *testing.T) {
	round := 0
	racing.Links(t, func(path string) error {
		round++
		final := filepath.Join(filepath.Dir(path), fmt.Sprintf("%016x", round))
		return once(final, func(dir string) error { return os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o644) })
	})
}
