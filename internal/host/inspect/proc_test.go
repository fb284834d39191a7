package inspect

import "testing"

// FuzzProc passes arbitrary bytes to the parsers of /proc.
func FuzzProc(f *testing.F) {
	f.Add([]byte("0::/system.slice/docker-" + dockerID + ".scope\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if in := (containers{}).of(string(text)); in.id != "" && in.name != in.id[:12] {
			t.Errorf("%q: %+v", text, in)
		}
		relevant(text)
	})
}
