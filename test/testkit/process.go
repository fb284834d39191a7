package testkit

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Start starts a program. When the test ends, the program is killed and reaped, unless
// the test has done so. Its own children are not: a shell has to exec its last program.
func Start(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	start(t, cmd, cmd.Start)
}

func start(t testing.TB, cmd *exec.Cmd, how func() error) {
	t.Helper()
	if cmd.WaitDelay == 0 {
		cmd.WaitDelay = Patience // a descendant that holds its output does not block Wait for longer
	}
	if err := how(); err != nil {
		t.Fatalf("start %s: %v", cmd.Path, err)
	}
	t.Cleanup(func() { Kill(cmd) })
}

// Kill kills a program and reaps it. It may have ended.
func Kill(cmd *exec.Cmd) {
	cmd.Process.Kill()
	cmd.Wait()
}

// StartReady starts a program and waits until it writes a line that begins with prefix
// to its standard output. It returns that line without its end, and discards
// what follows. A program that ends before fails the test.
func StartReady(t testing.TB, cmd *exec.Cmd, prefix string) string {
	t.Helper()
	if cmd.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	Start(t, cmd)
	watchdog := time.AfterFunc(Patience, func() { cmd.Process.Kill() })
	defer watchdog.Stop()
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%s ended before it wrote a line that begins with %q; the last one was %q", cmd.Path, prefix, line)
		}
		if strings.HasPrefix(line, prefix) {
			go func() { _, _ = io.Copy(io.Discard, lines) }()
			return strings.TrimSuffix(line, "\n")
		}
	}
}
