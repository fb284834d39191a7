package program

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/test/testkit"
)

// The result of a disturbed generator is either correct, or has a flag that the generator
// was limited or disturbed.
func TestADisturbedGeneratorIsReported(t *testing.T) {
	for _, c := range []struct {
		name  string
		path  string
		args  []string
		harm  func(t *testing.T, agent int)
		alone bool
		truth float64 // highest correct p99 in ms without a flag; 0: a flag is required
		well  bool    // all requests must succeed
	}{
		{name: "a limit of 5% of a CPU, at a rate", path: "/sleep?ms=1", args: []string{"-R", "2000", "-d", "4s"},
			harm: func(t *testing.T, agent int) { needCgroups(t); limited(t, agent, 0.05) }},
		{name: "a limit of 2% of a CPU, with users", path: "/sleep?ms=1", args: []string{"-c", "8", "-d", "4s"},
			harm: func(t *testing.T, agent int) { needCgroups(t); limited(t, agent, 0.02) }}, // at 5% a fast machine is hardly throttled
		{name: "a CPU shared with hogs", path: "/sleep?ms=20", args: []string{"-R", "500", "-d", "4s"},
			harm: crowded, alone: true, truth: 25, well: true},
		{name: "10,000 connections", path: "/sleep?ms=100", args: []string{"-c", "10000", "--think", "4s", "--warmup", "2s", "-d", "4s"},
			truth: 200, well: true},
		{name: "answers of 10 MB", path: "/bytes?n=10000000", args: []string{"-R", "10", "-d", "4s"},
			truth: 200, well: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			address, pid := serving(t)
			if c.alone { // on the last CPU, and the agent on the first
				pin(t, pid, runtime.NumCPU()-1)
			}
			r := suffering(t, c.harm, append(c.args, "http://"+address+c.path)...)
			words := slices.DeleteFunc(slices.Clone(r.Flags), func(flag summary.Flag) bool {
				return !slices.Contains(summary.Flags{summary.FlagAgentThrottled, summary.FlagSentLate, summary.FlagGeneratorLimited}, flag)
			})
			if r.Generator.Limited != slices.Contains(words, summary.FlagGeneratorLimited) {
				t.Errorf("limited: %v, but flags %q", r.Generator.Limited, r.Flags)
			}
			if len(words) == 0 && (c.truth == 0 || r.LatencyMS == nil || r.LatencyMS.P99 > c.truth) {
				t.Errorf("no flag of the generator (flags %q) for %+v", r.Flags, r.LatencyMS)
			}
			if c.well && *r.Availability != 100 {
				t.Errorf("%v%% available: %+v", *r.Availability, r.Errors)
			}
			if r.LatencyMS != nil && r.Generator.SendLagP99US != nil {
				t.Logf("%d requests, p99 %.1f ms, send lag p99 %.1f ms, %q", r.Requests, r.LatencyMS.P99, *r.Generator.SendLagP99US/1000, words)
			}
		})
	}
}

// suffering is load with a disturbed agent.
func suffering(t *testing.T, harm func(t *testing.T, agent int), args ...string) *loaded {
	t.Helper()
	c := exec.Command(filepath.Join(bin, "millicore"), append([]string{"load", "--json"}, args...)...)
	c.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	testkit.Start(t, c)
	if harm != nil {
		harm(t, testkit.Value(t, "it has an agent", func() (int, error) { return strconv.Atoi(childOf(c.Process.Pid, "millicore-agent")) }))
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("%v:\n%s", err, &errs)
	}
	r := new(loaded)
	if err := json.Unmarshal([]byte(out.String()), r); err != nil {
		t.Fatalf("%v in:\n%s", err, &out)
	}
	return r
}

// childOf is the pid of a child with a program's name; "": there is none yet.
func childOf(parent int, name string) string {
	var children []byte
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	for _, file := range threads {
		one, _ := os.ReadFile(file)
		children = append(children, one...)
	}
	for _, pid := range strings.Fields(string(children)) {
		if exe, err := os.Readlink("/proc/" + pid + "/exe"); err == nil && filepath.Base(exe) == name {
			return pid
		}
	}
	return ""
}

// crowded moves the agent to a CPU with three hogs, for longer than the load lasts.
func crowded(t *testing.T, agent int) {
	t.Helper()
	pin(t, agent, 0)
	hogs(t, 5*time.Second, 0, 0, 0)
}

// pin binds all threads of a process to a CPU. New threads inherit that.
func pin(t *testing.T, pid, on int) {
	t.Helper()
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	var cpu unix.CPUSet
	cpu.Set(on)
	for _, thread := range threads {
		tid, _ := strconv.Atoi(thread.Name())
		if err := unix.SchedSetaffinity(tid, &cpu); err != nil && err != unix.ESRCH { // it has ended
			t.Fatal(err)
		}
	}
}
