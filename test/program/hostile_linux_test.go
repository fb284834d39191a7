package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/millicore/millicore/test/testkit"
)

// evil is what a terminal would obey: a title and a colour, once with the C1 form of the
// escape, and an override of the direction.
const evil = "\x1b]0;title\a\x1b[31m\u009b31m\u202e"

// obeyed are the lines of an output with characters that a terminal could obey.
func obeyed(output string) (all []string) {
	for line := range strings.Lines(output) {
		for i, r := range strings.TrimSuffix(line, "\n") {
			_, size := utf8.DecodeRuneInString(line[i:])
			if r == utf8.RuneError && size == 1 || unicode.IsControl(r) && r != '\t' || unicode.Is(unicode.Cf, r) {
				all = append(all, line)
				break
			}
		}
	}
	return all
}

// saidBy runs millicore and returns what it wrote to both of its outputs.
func saidBy(t *testing.T, env []string, args ...string) string {
	t.Helper()
	c := exec.Command(filepath.Join(bin, "millicore"), args...)
	c.Env = append(append(os.Environ(), "TMPDIR="+t.TempDir()), env...)
	c.Dir = t.TempDir()
	text, _ := c.CombinedOutput() // its exit code is of no interest
	if len(text) == 0 {
		t.Fatalf("%q wrote nothing", args)
	}
	return string(text)
}

func TestHostileTextReachesNoTerminal(t *testing.T) {
	testkit.Long(t, "whole programs")
	// A program whose file, arguments and variables are hostile.
	program := filepath.Join(t.TempDir(), "server"+evil)
	data, err := os.ReadFile("/bin/sleep")
	if err == nil {
		err = os.WriteFile(program, data, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	process := &exec.Cmd{Path: program, Args: []string{"sleep" + evil, "1000"}, Env: []string{"GOMAXPROCS=" + evil}}
	testkit.Start(t, process)
	if cgroups() == "" {
		limited(t, process.Process.Pid, 0.5)
	}
	pid := strconv.Itoa(process.Process.Pid)

	odd := testkit.Saying(t, "HTTP/1.1 302 Fou"+evil+"nd\r\nLocation: http://127.0.0.1:1/"+evil+"\r\nServer: "+evil+"\r\nContent-Length: 0\r\n\r\n")
	garbage := testkit.Saying(t, evil+evil)
	shouts := "printf '%s' \"$EVIL\"; printf '%s\\n' \"$EVIL\" >&2; exit 3"
	experiment := filepath.Join(t.TempDir(), "shouts.yaml")
	text := fmt.Sprintf("name: shouts\nservices:\n  a: {command: [sh, -c, %q]}\nload: {request: {path: /}, users: 1}\nmeasure: {warmup: 1s, duration: 1s, repeats: 1}\n", shouts)
	if err := os.WriteFile(experiment, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	own := []string{"EVIL=" + evil}
	for _, args := range [][]string{
		{"doctor", "--pid", pid, "--for", "0"}, {"doctor", "--pid", pid, "--for", "0", "--json"}, {"doctor", "--pid", pid, "--for", "0", "--patch", filepath.Join(t.TempDir(), "patches")},
		{"top", "--plain", "--for", "1s", "--every", "500ms"},
		{"load", "-n", "5", "http://" + odd + "/"}, {"load", "--follow", "-n", "5", "http://" + odd + "/"},
		{"load", "-n", "5", "http://" + garbage + "/"}, {"load", "-n", "5", "--json", "http://" + garbage + "/"}, {"load", "-n", "5", "https://" + garbage + "/"},
		{"try", "--cpu", "500m", "--out", "tried", "--", "sh", "-c", shouts},
		{"run", experiment, "--out", "ran"}, {"run", experiment, "--dry-run"},
	} {
		if lines := obeyed(saidBy(t, own, args...)); len(lines) > 0 {
			t.Errorf("%q: %d lines, the first %q", args, len(lines), lines[0])
		}
	}
}
