package inspect

import (
	"strings"
	"testing"
)

// FuzzEnviron passes arbitrary environments and commands to everything that keeps a part of
// them.
func FuzzEnviron(f *testing.F) {
	f.Add([]byte("HOSTNAME=api-7d9f\x00GOMAXPROCS=2\x00NODE_VERSION=22.1.0\x00PORT=80\x00"))
	f.Add([]byte("HOSTNAME=" + strings.Repeat("x", mostName+1)))
	f.Add([]byte("\x00=\x00GOMAXPROCS"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if name := pod(text, "0123"); len(name) > mostName {
			t.Errorf("a name of %d bytes", len(name))
		}
		if kept := relevant(text); len(kept) > len(text) {
			t.Errorf("%d bytes of %d were kept", len(kept), len(text))
		}
		length := 0
		for _, arg := range kept(text) {
			length += len(arg)
		}
		if length > mostKept+len(cut) {
			t.Errorf("%d bytes of a command were kept", length)
		}
	})
}
