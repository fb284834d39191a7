package main

import (
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/millicore/millicore/internal/base/exit"
)

func TestWrongUsageOfDoctorAndTop(t *testing.T) {
	for _, args := range [][]string{
		{"doctor", "api"},
		{"doctor", "--level", "loud"},
		{"doctor", "--for", "-1s"},
		{"doctor", "--pid", "0"},
		{"doctor", "--pid", "1", "--container", "api"},
		{"doctor", "--container", ""},
		{"doctor", "--baseline", "/does/not/exist"},
		{"doctor", "--suppress", "doctor_test.go"},
		{"doctor", "--baseline", "doctor_test.go"},
		{"top", "api"},
		{"top", "--container", ""},
		{"top", "--sort", "size"},
		{"top", "--every", "1ms"},
		{"top", "--for", "-1s"},
	} {
		if got := run(args); got != exit.Usage {
			t.Errorf("%v: exit code %d, want %d", args, got, exit.Usage)
		}
	}
}

func TestDoctorOfOneProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux's /proc")
	}
	// This one may or may not be mis-sized: that depends on where the test runs.
	if got := run([]string{"doctor", "--for", "0", "--pid", strconv.Itoa(os.Getpid())}); got != exit.OK && got != exit.Missed && got != exit.Undecided {
		t.Errorf("exit code %d", got)
	}
	if got := run([]string{"doctor", "--for", "0", "--pid", "2147483646"}); got != exit.Usage {
		t.Errorf("no such process: exit code %d, want %d", got, exit.Usage)
	}
}
