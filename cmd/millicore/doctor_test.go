package main

import (
	"os"
	"runtime"
	"strconv"
	"testing"
)

func TestDoctorIsAskedWrong(t *testing.T) {
	for _, args := range [][]string{
		{"doctor", "api"},
		{"doctor", "--level", "loud"},
		{"doctor", "--for", "-1s"},
		{"doctor", "--pid", "0"},
		{"doctor", "--pid", "1", "--container", "api"},
		{"doctor", "--container", ""},
		{"top", "api"},
		{"top", "--container", ""},
		{"top", "--sort", "size"},
		{"top", "--every", "1ms"},
		{"top", "--for", "-1s"},
	} {
		if got := run(args); got != exitUsage {
			t.Errorf("%v: exit code %d, want %d", args, got, exitUsage)
		}
	}
}

func TestDoctorOfOneProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux's /proc")
	}
	// This one may or may not be mis-sized: that depends on where the test runs.
	if got := run([]string{"doctor", "--for", "0", "--pid", strconv.Itoa(os.Getpid())}); got != exitOK && got != exitMissed {
		t.Errorf("exit code %d", got)
	}
	if got := run([]string{"doctor", "--for", "0", "--pid", "2147483646"}); got != exitUsage {
		t.Errorf("no such process: exit code %d, want %d", got, exitUsage)
	}
}
