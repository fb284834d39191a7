package try

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/rights"
	"github.com/millicore/millicore/internal/testkit/racing"
)

// The socket of a service may be in a folder of another user.
func TestLinksBesideASocket(t *testing.T) {
	racing.Links(t, func(path string) error {
		path = filepath.Join(filepath.Dir(path), racing.Socket)
		if err := rights.For(path, func() error { return unix.Mknod(path, unix.S_IFSOCK|0o600, 0) }); err != nil {
			return err
		}
		return removeSocket(path)
	})
}
