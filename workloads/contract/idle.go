package contract

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// maxIdle is the CPU time that a service without requests may use in a second: 1.2% of
// a limit of 250m.
const maxIdle = 3 * time.Millisecond

// RunIdle checks what the process and those below it use without requests. One quiet second
// of a few is enough, so that what a runtime does after its start, and what the machine
// does to it, does not count: a timer shows in each of them.
func RunIdle(t *testing.T, pid int) {
	t.Helper()
	const seconds = 5
	var all []time.Duration
	for range seconds {
		before := cpuTime(t, pid)
		time.Sleep(time.Second)
		used := cpuTime(t, pid) - before
		if all = append(all, used); used <= maxIdle {
			t.Logf("%v of CPU in second %d", used, len(all))
			return
		}
	}
	t.Errorf("%v of CPU in %d seconds without requests, want at most %v in one of them", all, seconds, maxIdle)
}

// cpuTime is what all threads of the process and of those below it have used, by
// schedstat: the first number is nanoseconds on a CPU.
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	var sum time.Duration
	for _, thread := range threads {
		stat, err := os.ReadFile(thread + "/schedstat")
		if errors.Is(err, os.ErrNotExist) {
			if _, err := os.Stat("/proc/self/schedstat"); err != nil {
				t.Skip("needs /proc/PID/schedstat to read the CPU time of a process")
			}
			continue // the thread has ended
		}
		if err != nil {
			t.Fatal(err)
		}
		used, err := strconv.ParseInt(strings.Fields(string(stat))[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += time.Duration(used)
		children, err := os.ReadFile(thread + "/children")
		if err != nil {
			continue // it has ended, or the kernel does not list children
		}
		for _, word := range strings.Fields(string(children)) {
			child, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			sum += cpuTime(t, child)
		}
	}
	return sum
}
