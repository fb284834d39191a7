package logbudget

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform/supervise"
)

func openLog(t *testing.T, name string) *supervise.Log {
	t.Helper()
	log, err := supervise.OpenLog(filepath.Dir(name), filepath.Base(name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.File.Close() })
	return log
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A log keeps its begin and its last lines, and states what is missing between them.
func TestALogBeyondItsShare(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	b := New(80) // 20 of them for the last lines
	l := b.Open(openLog(t, name))
	for i := range 100 {
		l.Line(fmt.Sprintf("line %04d", i)) // 10 bytes each
	}
	l.Line("panic: no")
	l.Flush()
	lines := strings.Split(strings.TrimSuffix(read(t, name), "\n"), "\n")
	if len(lines) != 9 || lines[5] != "line 0005" || lines[7] != "line 0099" || lines[8] != "panic: no" ||
		!strings.HasPrefix(lines[6], "millicore: ") || !strings.Contains(lines[6], " 93 lines, 0.0 MiB, left out here") {
		t.Errorf("%q", lines)
	}
	l.Line("of the next life, which has no room")
	l.Close()
	if got := read(t, name); !strings.Contains(got, " 1 line, 0.0 MiB, left out here") || strings.Contains(got, "next life") {
		t.Errorf("%s", got)
	}
	if got := b.Total(); !strings.HasPrefix(got, "logs of services: 94 lines, 0.0 MiB, left out of 1 of them") || b.left != 0 {
		t.Errorf("%q; %d bytes are left", got, b.left)
	}
}

// A log within its share is written at once and whole, and what it does not use is for
// others.
func TestALogWithinItsShare(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	b := New(Total)
	l := b.Open(openLog(t, name))
	l.Line("one")
	if got := read(t, name); got != "one\n" {
		t.Errorf("%q", got)
	}
	l.Close()
	if b.left != Total-4 || b.Total() != "" {
		t.Errorf("%d bytes are left, %q", b.left, b.Total())
	}
}

// Whatever services write, all logs together stay within the budget, and the last trial
// has a log as the first has.
func TestTheLogsOfARunStayWithinTheirBudget(t *testing.T) {
	e := &experiment.Experiment{Measure: experiment.Measure{Repeats: 20}, Cells: []experiment.Cell{{Limits: experiment.Limits{Replicas: 3},
		Service: experiment.Service{Dependencies: []experiment.Dependency{{Name: "db", Image: "db:1"}}}}}}
	if n := logsOf(e); n != 80 {
		t.Errorf("%d logs, want 4 for each of 20 trials", n)
	}
	b := New(Total)
	b.Plan(e)
	if b.share != Total/106 {
		t.Errorf("a share of %d", b.share)
	}
	// The same in small: three chatty replicas in each trial, of which a third is repeated.
	b.left, b.share = 4000, 4000/106
	dir, sum := t.TempDir(), int64(0)
	for trial := range 26 {
		for replica := range 4 {
			name := filepath.Join(dir, fmt.Sprintf("%d-%d", trial, replica))
			l := b.Open(openLog(t, name))
			for i := range 50 {
				l.Line(fmt.Sprint("chatter ", i%10))
			}
			l.Close()
			for line := range strings.Lines(read(t, name)) {
				if !strings.HasPrefix(line, "millicore: ") {
					sum += int64(len(line))
				}
			}
			if !strings.HasPrefix(read(t, name), "chatter 0\n") {
				t.Errorf("the log of trial %d has no begin", trial)
			}
		}
	}
	if sum > 4000 || b.left < 0 {
		t.Errorf("the logs have %d bytes, %d are left of 4000", sum, b.left)
	}
	if got, want := b.dropped.bytes, int64(26*4*50*10)-sum; got != want {
		t.Errorf("%d bytes were counted as left out, want %d", got, want)
	}
}
