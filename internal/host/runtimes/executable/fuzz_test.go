package executable

import (
	"bytes"
	"os"
	"testing"

	"github.com/millicore/millicore/internal/host/procfiles"
)

// FuzzRead passes arbitrary files to the reader of executables.
func FuzzRead(f *testing.F) {
	if self, err := os.ReadFile("/bin/true"); err == nil {
		f.Add(self[:min(len(self), 4<<10)]) // headers and segments
	}
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Fuzz(func(t *testing.T, file []byte) {
		var b Facts
		err := procfiles.Parse(bytes.NewReader(file), func(f *procfiles.ELF) (err error) {
			b, err = Read(f)
			return err
		})
		if err != nil && b.Go == nil && b.Pprof {
			t.Error("facts from a file that could not be read")
		}
	})
}
