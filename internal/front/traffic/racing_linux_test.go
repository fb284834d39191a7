package traffic

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/millicore/millicore/test/testkit/racing"
)

// The files that flags name may be in a folder of another user.
func TestLinksBesideFilesOfFlags(t *testing.T) {
	from := filepath.Join(t.TempDir(), "from")
	if err := os.WriteFile(from, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("checked before the run", func(t *testing.T) {
		racing.Links(t, func(path string) error { return Writable(filepath.Join(filepath.Dir(path), "new")) })
	})
	t.Run("copied", func(t *testing.T) { racing.Links(t, func(path string) error { return CopyFile(path, from) }) })
}
