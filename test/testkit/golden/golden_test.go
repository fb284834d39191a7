package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type noted struct {
	testing.TB
	said string
}

func (*noted) Helper() {}
func (n *noted) Errorf(format string, args ...any) {
	n.said = fmt.Sprintf(format, args...)
}

func TestFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "golden.txt")
	defer func(before bool) { *update = before }(*update)
	*update = true
	File(t, file, "one\n")
	*update = false
	File(t, file, "one\n")
	n := &noted{TB: t}
	if File(n, file, "two\n"); !strings.Contains(n.said, "golden.txt (-want +got)") {
		t.Errorf("another text: %q", n.said)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "one\n" {
		t.Errorf("the file has %q, %v", text, err)
	}
}
