package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform"
)

func plan(trials ...experiment.Trial) []experiment.Trial { return trials }

func TestQueueRepeatsADisturbedTrialOnceLater(t *testing.T) {
	q := newQueue(plan(experiment.Trial{Number: 1}, experiment.Trial{Number: 2, Cell: 1}), 2)
	a, _ := q.next()
	if got := q.settle(a, record.Disturbed); got != repeat {
		t.Errorf("decided %q", got)
	}
	if b, _ := q.next(); b.Cell != 1 {
		t.Errorf("next is cell %d, want the plan to go on with 1", b.Cell)
	}
	again, ok := q.next()
	if !ok || again.Cell != 0 || again.attempt != 1 {
		t.Fatalf("next %+v, want the repeat of the first", again)
	}
	if got := q.settle(again, record.Disturbed); got != keepNoisy {
		t.Errorf("decided %q", got)
	}
	if _, ok := q.next(); ok {
		t.Error("a trial was repeated twice")
	}
}

// Repeats are not all at the end, where they would meet the same neighbour.
func TestQueueSpreadsRepeats(t *testing.T) {
	var trials []experiment.Trial
	for i := range 9 {
		trials = append(trials, experiment.Trial{Number: i + 1, Repeat: i + 1})
	}
	q := newQueue(trials, 1)
	var order []int
	for a, ok := q.next(); ok; a, ok = q.next() {
		order = append(order, a.Repeat)
		if len(order) <= 3 {
			q.settle(a, record.Disturbed)
		} else {
			q.settle(a, record.Done)
		}
	}
	if d := cmp.Diff([]int{1, 2, 3, 4, 5, 1, 6, 2, 7, 3, 8, 9}, order); d != "" {
		t.Error(d)
	}
}

// A trial that is certain to be repeated ends at once; one that counts does not.
func TestATrialThatIsCertainToBeRepeatedEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		repeat time.Duration
		want   int // the interval after which it ends; -1: none
	}{{"repeated", 20 * time.Second, 3}, {"not repeated", 0, -1}} {
		r := &recorder{agents: &agents{}, progress: &reporter{}, repeat: c.repeat}
		ended := -1
		for seq := range 20 {
			r.noise.Add(&signals.Frame{Phase: signals.Measure, Seq: seq, End: 1e9, Host: &signals.Host{CPUs: 2, Foreign: 1}})
			if err := r.take(event{sampled: &seq}); err != nil {
				t.Fatal(err)
			}
			if r.early && ended < 0 {
				ended = seq
			}
		}
		if ended != c.want {
			t.Errorf("%s: ended after interval %d, want %d", c.name, ended, c.want)
		}
	}
}

// The same message does not come for each of many disturbed trials.
func TestDisturbedTrialsAreNotedOnce(t *testing.T) {
	late := func(f *signals.Frame) {
		waited := 0.05
		f.Client.RunWait = &waited
		for range 10 {
			f.Client.SendLag.Record(5 * time.Millisecond)
		}
	}
	inBubble(func(t *testing.T) {
		text := strings.NewReplacer("agents: 3", "agents: 1", "repeats: 2", "repeats: 6").Replace(shortExperiment)
		l, _, log := testLab(t, text, func(int, int) fakeLife { return fakeLife{each: late} })
		if err := l.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 4 || !strings.HasPrefix(lines[2], "1 more trial likewise") || !strings.HasPrefix(lines[3], "5 more trials likewise") {
			t.Errorf("the log says\n%s", log)
		}
	})(t)
}

func TestQueueEndsOnAMachineThatIsNeverQuiet(t *testing.T) {
	var trials []experiment.Trial
	for i := range 18 {
		trials = append(trials, experiment.Trial{Number: i + 1, Repeat: i})
	}
	q, ran := newQueue(trials, 1), 0
	for a, ok := q.next(); ok; a, ok = q.next() {
		ran++
		q.settle(a, record.Disturbed)
	}
	if ran != 24 {
		t.Errorf("%d trials ran, want the plan's 18 and a third of it again", ran)
	}
}

func TestQueueGivesUpACellThatFailsTwice(t *testing.T) {
	var trials []experiment.Trial
	for i := range 4 {
		trials = append(trials, experiment.Trial{Repeat: i}, experiment.Trial{Cell: 1, Repeat: i})
	}
	q, ran := newQueue(trials, 2), map[int]int{}
	for a, ok := q.next(); ok; a, ok = q.next() {
		ran[a.Cell]++
		if a.Cell == 0 {
			q.settle(a, record.Failed)
		} else {
			q.settle(a, record.Done)
		}
	}
	if d := cmp.Diff(map[int]int{0: 2, 1: 4}, ran); d != "" {
		t.Error(d)
	}
}

func TestPaceLearnsFromTheTrialsThatRan(t *testing.T) {
	const s = time.Second
	p := &pace{planned: []time.Duration{3 * s, 10 * s}, taken: make([]time.Duration, 2), trials: make([]int, 2)}
	waiting := []attempt{{Trial: experiment.Trial{Cell: 0}}, {Trial: experiment.Trial{Cell: 1}}}
	if got := p.left(0, s, waiting); got != 15*s {
		t.Errorf("left %v, want the rest of this trial and one of each cell: 2+3+10 s", got)
	}
	p.took(0, 5*s)
	p.took(0, 7*s)
	if got := p.left(0, 8*s, waiting); got != 26*s {
		t.Errorf("left %v, want nothing of this trial, which takes long, and 6+20 s: trials take twice their plan", got)
	}
}

func TestMissingProgramsAreNamed(t *testing.T) {
	dir := t.TempDir()
	_, err := Programs{Dir: dir}.Path("millicore-go")
	want := "find millicore-go: it is not beside millicore in " + dir + "; `make build` puts all programs into bin/"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// A single load has neither a number nor retries, and its messages mention none.
func TestMessagesOfALoadThatIsNotRepeated(t *testing.T) {
	late := func(f *signals.Frame) {
		waited := 0.05
		f.Client.RunWait = &waited
		for range 10 {
			f.Client.SendLag.Record(5 * time.Millisecond)
		}
	}
	for _, c := range []struct {
		name, want, fails string
		life              fakeLife
	}{
		{"undisturbed", "", "<nil>", fakeLife{}},
		{"disturbed", "disturbed: the agent's threads waited for a CPU, 0.5 of them on average, and it sent 1% of the requests more than 5.0 ms late\n", "<nil>", fakeLife{each: late}},
		{"failed", "failed: agent 0 failed: it ended without an error message; see its standard error\n", "the load failed; the reason is above", fakeLife{breaks: 2}},
	} {
		t.Run(c.name, inBubble(func(t *testing.T) {
			text := strings.NewReplacer("agents: 3", "agents: 1", "repeats: 2", "repeats: 1").Replace(shortExperiment)
			l, _, log := testLab(t, text, func(int, int) fakeLife { return c.life })
			l.NoRepeat = true
			if got := fmt.Sprint(l.Run(t.Context())); got != c.fails {
				t.Errorf("error %s, want %s", got, c.fails)
			}
			if got := log.String(); got != c.want {
				t.Errorf("the log says\n%swant\n%s", got, c.want)
			}
		}))
	}
}

// The reason of a trial that failed for want of open files says what to do.
func TestTooManyOpenFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, f, _ := testLab(t, shortExperiment, func(int, int) fakeLife { return fakeLife{} })
		f.fails = func(int) error {
			return fmt.Errorf("start \"web\": %w", &fs.PathError{Op: "open", Path: "/proc/self/mountinfo", Err: syscall.EMFILE})
		}
		if err := l.Run(t.Context()); err == nil {
			t.Error("a run without a completed trial has no error")
		}
		want := `start "web": /proc/self/mountinfo: too many open files; raise the limit of this process (ulimit -n)`
		if got := openRecord(t, l.Dir).Trials[0].Why; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// unstoppable is a platform whose units cannot be stopped.
type unstoppable struct{ *fake }

func (u unstoppable) Start(ctx context.Context, s platform.UnitSpec) (platform.Unit, error) {
	return unstoppableReplica{}, nil
}

type unstoppableReplica struct{ fakeReplica }

func (unstoppableReplica) Stop(context.Context) error { return errors.New("it stays") }

// A failed stop names `millicore clean` for platforms that it knows only.
func TestTheMessageOfAFailedStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, f, log := testLab(t, shortExperiment, func(int, int) fakeLife { return fakeLife{} })
		l.Platform = unstoppable{f}
		if err := l.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := log.String(); !strings.Contains(got, "stop: it stays\n") {
			t.Errorf("got %q", got)
		}
	})
}
