package group

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Only "1" is systemd's mark of a delegated group. Any folder can have it.
func TestSystemdsMarkOfDelegation(t *testing.T) {
	for value, want := range map[string]bool{"1": true, "0": false, "": false} {
		dir := t.TempDir()
		if delegated(dir) {
			t.Error("a folder without the mark is delegated")
		}
		if err := unix.Setxattr(dir, "user.delegate", []byte(value), 0); err != nil {
			t.Skipf("no extended attributes of users here: %v", err)
		}
		if got := delegated(dir); got != want {
			t.Errorf("%q: delegated %v", value, got)
		}
	}
}
