package supervise

import (
	"path/filepath"
	"testing"

	"github.com/millicore/millicore/internal/testkit/racing"
)

// The log of a service may be in a folder of another user.
func TestLinksBesideALog(t *testing.T) {
	racing.Links(t, func(path string) error {
		log, err := OpenLog(filepath.Dir(path), filepath.Base(path))
		if err != nil {
			return err
		}
		log.Note("x")
		return log.File.Close()
	})
}
