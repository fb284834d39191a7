package chaos

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/test/testkit"
)

// Flags of a campaign. Each package that runs one has them.
var (
	runs = flag.Int("runs", 0, "attempts of a campaign (default: few, and more with MILLICORE_SAMPLES=full)")
	seed = flag.Uint64("seed", 1, "seed of a campaign's first attempt; each further one has the next")
)

// Size is the number of attempts, and the first seed. A campaign of size 0 is skipped.
func Size(t *testing.T, usual, full int) (n int, first uint64) {
	t.Helper()
	n = *runs
	if n == 0 {
		n = testkit.Samples(0, usual, full)
	}
	if n == 0 {
		t.Skip("long: a campaign; -runs or MILLICORE_SAMPLES=full runs it")
	}
	return n, *seed
}

// Platform is where the runs of a campaign take place. Their labs are processes of this
// machine.
type Platform interface {
	Name() string                      // in a plan
	Experiment(p *Plan) string         // its text
	On() []string                      // flags of `millicore run` and `millicore clean`
	Left(labs []int) ([]string, error) // what runs with these labs left outside of their box
	// Find returns the process of a part of the run with this lab; 0: there is none.
	Find(lab int, target Target) (int, error)
}

const (
	interval = 200 * time.Millisecond // of the experiments
	// endsIn bounds the end of a run. A service or an agent that nobody continues is waited
	// for several times, up to 30 s each.
	endsIn = 3 * time.Minute
	// atOnce bounds the end of a run after a signal to its lab, which promises 2 s. What is
	// more is for a busy machine.
	atOnce = 20 * time.Second
)

// Run runs the attempts of consecutive seeds, and logs their table.
func Run(t *testing.T, on Platform, programs string, n int, first uint64) {
	var results []Result
	for i := range uint64(n) {
		a := &attempt{Result: Result{Plan: Draw(on.Name(), first+i)}, on: on}
		passed := t.Run(fmt.Sprintf("seed=%d", a.Seed), func(t *testing.T) {
			t.Logf("%v", &a.Plan)
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("%v\nrepeat it with: %s", &a.Plan, a.Repeat())
				}
			})
			a.box = NewBox(t, programs, &a.Plan)
			a.run(t)
		})
		a.Failed = !passed
		t.Log(a.Logged())
		results = append(results, a.Result)
	}
	t.Logf("seeds %d to %d:\n%s", first, first+uint64(n)-1, Table(results))
}

// attempt is one run with a fault, and what follows it.
type attempt struct {
	Result
	on   Platform
	box  *Box
	labs []int
}

func (a *attempt) run(t *testing.T) {
	a.write(t)
	files := 0
	if a.Fault == FewFiles {
		files = a.Files
	}
	first := a.start(t, files, "first")
	var second *testkit.Background
	if a.Two {
		second = a.start(t, 0, "second")
	}
	struck := a.strike(t, first)
	a.ends(t, first, struck)
	if err := a.box.Free(); err != nil {
		t.Fatal(err)
	}
	if second != nil {
		a.clean(t) // must not touch the other run
		second.Ends(t, endsIn)
		if second.ProcessState.ExitCode() != 0 && a.Fault != Full {
			t.Errorf("the run beside it ended with %v:\n%s", second.ProcessState, &second.Err)
		}
		a.readable(t, "second", a.Fault != Full, time.Time{})
	}
	before := a.left(t)
	a.Left = len(before)
	// A lab that cannot end in time says that `millicore clean` is needed.
	overdue := strings.Contains(first.Err.String(), "what it waited for did not end")
	if !a.killed() && !a.starved() && !overdue && len(before) > 0 {
		t.Errorf("the run left %q, although its lab was not killed", before)
	}
	a.readable(t, "first", false, struck)
	a.clean(t)
	if after := a.left(t); len(after) > 0 {
		a.Remained = len(after)
		t.Errorf("left after `millicore clean`: %q; before it: %q", after, before)
	}
	a.next(t)
}

// killed reports whether the lab had no chance to end its run.
func (a *attempt) killed() bool { return a.Target == Lab && (a.Fault == Kill || a.Fault == Stop) }

// starved reports whether the lab may have been unable to end its run.
func (a *attempt) starved() bool { return a.Fault == Full || a.Fault == FewFiles }

// write writes the experiment.
func (a *attempt) write(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(a.box.Seen(a.experiment()), []byte(a.on.Experiment(&a.Plan)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (a *attempt) experiment() string { return filepath.Join(a.box.Work, "experiment.yaml") }

func (a *attempt) start(t *testing.T, files int, name string, args ...string) *testkit.Background {
	t.Helper()
	args = append([]string{"run", a.experiment(), "--json", "--out", filepath.Join(a.box.Work, name)}, args...)
	p := testkit.InBackground(t, a.box.Command(files, append(args, a.on.On()...)...))
	a.labs = append(a.labs, p.Process.Pid)
	return p
}

// strike does to the target what is planned when it is due. It returns when; the zero time:
// it was too late, or what was done does not break off the measurement.
func (a *attempt) strike(t *testing.T, first *testkit.Background) (at time.Time) {
	t.Helper()
	target := a.find(t, first)
	if a.AtEnd {
		a.finished(t, first)
	}
	due := time.NewTimer(a.After)
	defer due.Stop()
	select {
	case <-due.C:
	case <-first.Over:
	}
	if target == nil || first.Ended() && a.Target != Machine {
		a.Late = true
		return time.Time{}
	}
	at = time.Now()
	err := a.Act(a.box, target)
	switch {
	case errors.Is(err, os.ErrProcessDone), errors.Is(err, syscall.ESRCH):
		a.Late = true
	case err != nil:
		t.Fatalf("%v: %v", a.Case, err)
	case a.Target == Service || a.Target == Database, a.Fault == Pause, a.Fault == Clock, a.Fault == FewFiles, a.Target == State:
	default:
		return at
	}
	return time.Time{}
}

// finished waits until the record has its last line, or the run has ended.
func (a *attempt) finished(t *testing.T, first *testkit.Background) {
	t.Helper()
	trials := a.box.Seen(filepath.Join(a.box.Work, "first", record.TrialsFile))
	testkit.Within(t, endsIn, "the record is finished, or the run ended", func() bool {
		text, _ := os.ReadFile(trials) // none yet
		return bytes.Contains(text, []byte(`"outcome":"finished"`)) || first.Ended()
	})
}

// find waits for the process of the target; nil: the run ended before.
func (a *attempt) find(t *testing.T, first *testkit.Background) *os.Process {
	t.Helper()
	pid := 0
	switch a.Target {
	case Lab, Record, State, Machine:
		return first.Process
	}
	testkit.Until(t, fmt.Sprintf("the run has its %s, or ended", a.Target), func() bool {
		var err error
		if pid, err = a.on.Find(first.Process.Pid, a.Target); err != nil {
			t.Fatal(err)
		}
		return pid != 0 || first.Ended()
	})
	if pid == 0 {
		return nil
	}
	found, err := os.FindProcess(pid) // by a pidfd
	if err != nil {
		return nil
	}
	return found
}

// Act does to the process of a target, or to the disk of its box, what is planned. A head
// that nobody continues is killed after a while, as a user does.
func (p *Plan) Act(b *Box, on *os.Process) error {
	switch p.Fault {
	case Kill:
		return on.Signal(syscall.SIGKILL)
	case Terminate:
		return on.Signal(syscall.SIGTERM)
	case Interrupt:
		if p.Target == Lab || p.Target == Client {
			return syscall.Kill(-on.Pid, syscall.SIGINT) // as a terminal does
		}
		return on.Signal(syscall.SIGINT)
	case Pause, Stop:
		if err := on.Signal(syscall.SIGSTOP); err != nil || p.Fault == Stop && !p.head() {
			return err
		}
		time.Sleep(p.Hold)
		if p.Fault == Stop {
			return on.Signal(syscall.SIGKILL)
		}
		return on.Signal(syscall.SIGCONT)
	case Full:
		return b.fill(p.Target)
	case Clock:
		to := unix.NsecToTimeval(time.Now().Add(p.Step).UnixNano())
		return unix.Settimeofday(&to)
	}
	return nil // FewFiles is a limit from the beginning
}

// ends waits for the end of a run that was struck, and checks how it ended.
func (a *attempt) ends(t *testing.T, p *testkit.Background, struck time.Time) {
	t.Helper()
	signalled := !a.Late && a.Target == Lab && (a.Fault == Terminate || a.Fault == Interrupt)
	within := endsIn
	if signalled || a.killed() {
		within = atOnce
	}
	p.Ends(t, within)
	status, _ := p.ProcessState.Sys().(syscall.WaitStatus)
	allowed := []int{0, 1, 98, 99}
	switch {
	case a.Late:
	case a.killed():
		allowed = []int{-1}
	case signalled && status.Signaled() && (a.After < time.Second || a.Platform == "vm"): // before it handles signals
		allowed = []int{-1}
	case signalled:
		allowed = []int{130, 0, 98, 99} // the signal came at its end
	case a.Fault == FewFiles:
		allowed = []int{0, 1, 2, 98, 99}
	}
	if !slices.Contains(allowed, p.ProcessState.ExitCode()) {
		t.Errorf("the run ended with %v, want one of %v:\n%s", p.ProcessState, allowed, &p.Err)
	}
	for _, sign := range []string{"panic:", "fatal error:", "goroutine "} {
		if strings.Contains(p.Err.String(), sign) {
			t.Errorf("the run ended with a panic:\n%s", &p.Err)
			break
		}
	}
	if p.ProcessState.ExitCode() > 0 && p.Err.Len() == 0 {
		t.Errorf("the run ended with %v and no message", p.ProcessState)
	}
	t.Logf("it ended with %v after %v: %s", p.ProcessState, time.Since(p.Began).Round(time.Millisecond), lastLines(p.Err.String()))
}

// lastLines are the last lines of a text: what a run said at its end.
func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], " / ")
}
