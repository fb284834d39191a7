package testkit

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// starting is the variable by which the test starts this program as one that starts a program,
// writes its pid and waits.
const starting = "MILLICORE_TEST_STARTS"

// A killed test program takes along what it has started.
func TestATiedProgramEndsWithAKilledTest(t *testing.T) {
	if os.Getenv(starting) != "" {
		cmd := exec.Command("sleep", "600")
		StartTied(t, cmd)
		os.Stdout.WriteString("started " + strconv.Itoa(cmd.Process.Pid) + "\n")
		time.Sleep(time.Hour) // it is killed
	}
	starter := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	starter.Env = append(os.Environ(), starting+"=1")
	out, err := starter.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	Start(t, starter)
	pid := 0
	for lines := bufio.NewScanner(out); pid == 0 && lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "started "); ok {
			pid, _ = strconv.Atoi(text)
		}
	}
	if pid == 0 || syscall.Kill(pid, 0) != nil {
		t.Fatalf("the program %d does not run", pid)
	}
	starter.Process.Kill()
	Until(t, "the program has ended", func() bool { return ended(pid) })
}

// ended reports whether a process has ended; nobody may have reaped it.
func ended(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(text), ") Z ")
}
