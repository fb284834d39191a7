package profile

import (
	"path/filepath"
	"testing"

	"github.com/millicore/millicore/test/testkit/racing"
)

// The folder of profiles is in that of the record, which may be another user's.
func TestLinksBesideAProfile(t *testing.T) {
	racing.Links(t, func(path string) error {
		_, err := PrepareNode(filepath.Dir(path), "")
		return err
	})
}
