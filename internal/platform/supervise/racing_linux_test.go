package supervise

import (
	"path/filepath"
	"testing"

	"github.com/millicore/millicore/test/testkit/racing"
)

// The log of a service may be in a folder of another user.
func TestLinksBesideALogThatIsShortened(t *testing.T) {
	racing.Links(t, func(path string) error {
		log, err := OpenLog(filepath.Dir(path), filepath.Base(path))
		if err != nil {
			return err
		}
		done := make(chan struct{})
		close(done)
		log.limit = &limiter{file: log.File, stop: make(chan struct{}), done: done, cut: 1}
		return log.Close()
	})
}

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
