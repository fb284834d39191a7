package main

import (
	"testing"
	"time"
)

func TestReadingProc(t *testing.T) {
	const ms = time.Millisecond
	stat := "cpu  100 20 300 9999 40 5 6 7 11 12\ncpu0 1 2 3 4 5 6 7 8 9 10\n"
	if got, err := parseStat(stat); err != nil || got != (hostCPU{Busy: 4310 * ms, Steal: 70 * ms}) {
		t.Errorf("%+v, %v; want 4.31 s busy and 70 ms stolen", got, err)
	}
	for _, bad := range []string{"", "cpu 1 2 3", "intr 1 2 3 4 5 6 7 8 9", "cpu a b c d e f g h i"} {
		if got, err := parseStat(bad); err == nil {
			t.Errorf("%q is taken for %+v", bad, got)
		}
	}
	status := "Name:\tsh\nVmPeak:\t    9999 kB\nVmHWM:\t    1234 kB\nVmRSS:\t     999 kB\n"
	if got := parseKilobytes(status, "VmHWM"); got != 1234<<10 {
		t.Errorf("%d bytes; want 1234 KiB", got)
	}
	if got := parseKilobytes("Name:\tsh\nState:\tZ (zombie)\n", "VmHWM"); got != 0 {
		t.Errorf("%d bytes of a process that has ended; want 0", got)
	}
	if got := parseModel("processor\t: 0\nmodel name\t: Some CPU: fast\n"); got != "Some CPU: fast" {
		t.Errorf("%q", got)
	}
}
