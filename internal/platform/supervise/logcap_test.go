package supervise

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/millicore/millicore/test/testkit"
)

// A process that writes more than a log keeps fills no disk, and its first and last words
// are there.
func TestAFloodOfOutputIsBounded(t *testing.T) {
	l, err := OpenLog(t.TempDir(), "flood.log")
	if err != nil {
		t.Fatal(err)
	}
	l.Bound()
	const written = 512 << 20
	c := exec.Command("sh", "-c", "echo first; head -c "+strconv.Itoa(written)+" /dev/zero | tr '\\0' x; echo last")
	c.Stdout = l.File
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the hole has its size", func() bool {
		info, err := l.File.Stat()
		if err != nil {
			t.Fatal(err)
		}
		return info.Sys().(*syscall.Stat_t).Blocks*512 <= 2*LogPart+2*logGrain
	})
	if tail := l.Tail(); !strings.HasSuffix(tail, "last") {
		t.Errorf("the tail of the open log ends with %.20q", tail[max(0, len(tail)-20):])
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(l.File.Name())
	if err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("\nmillicore: %d bytes of the output were dropped here", l.Dropped())
	if !bytes.HasPrefix(text, []byte("first\n")) || !bytes.HasSuffix(text, []byte("last\n")) || !bytes.Contains(text, []byte(line)) {
		t.Errorf("the log of %d bytes has not its begin, its end, or the line %q", len(text), line)
	}
	notice := len(text) - (written + len("first\nlast\n") - int(l.Dropped()))
	if bytes.IndexByte(text, 0) >= 0 || len(text) > 2*LogPart+1<<17 || notice < len(line) || notice > 200 {
		t.Errorf("%d bytes of %d are kept, %d were dropped", len(text), written, l.Dropped())
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(l.File.Name()), ".log-*")); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
}

func TestAShortLogIsWhole(t *testing.T) {
	l, err := OpenLog(t.TempDir(), "short.log")
	if err != nil {
		t.Fatal(err)
	}
	l.Bound()
	text := strings.Repeat("line\n", 1000)
	if _, err := io.WriteString(l.File, text); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(l.File.Name()); err != nil || string(got) != text || l.Dropped() != 0 {
		t.Errorf("%d bytes, %v; %d were dropped", len(got), err, l.Dropped())
	}
}
