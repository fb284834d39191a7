package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/data/experiment/schema"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
)

func outcomes(r *record.Record) (all []string) {
	for _, t := range r.Trials {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%d: cell %d, repeat %d, attempt %d: %s %s", t.Trial, t.Cell, t.Repeat, t.Attempt, t.Outcome, t.Why)))
	}
	return all
}

// A lab that is killed during its second trial leaves an incomplete line. The next lab
// continues after it.
func TestARunIsResumed(t *testing.T) { synctest.Test(t, testARunIsResumed) }

func testARunIsResumed(t *testing.T) {
	l, f, log := testLab(t, shortExperiment, func(int, int) fakeLife { return fakeLife{} })
	ctx, kill := context.WithCancel(t.Context())
	l.Progress = func(p Progress) {
		if p.Trial == 2 && p.State == "measure" {
			kill()
		}
	}
	if err := l.Run(ctx); err != nil {
		t.Fatal(err)
	}
	asKilled(t, l.Dir)
	before := count(clientFrames(t, openRecord(t, l.Dir), 2))
	if before == 0 {
		t.Fatal("the second trial has no frames")
	}

	again := &Lab{Experiment: l.Experiment, Platform: f, Seed: 1, Dir: l.Dir, Version: "test", Log: log, NoHost: true, Resume: true}
	if err := again.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := openRecord(t, l.Dir)
	want := []string{
		"1: cell 0, repeat 1, attempt 0: done",
		"2: cell 0, repeat 2, attempt 0: interrupted the conductor was restarted",
		"3: cell 0, repeat 2, attempt 0: done",
	}
	if d := cmp.Diff(want, outcomes(r)); d != "" || !r.Finished {
		t.Errorf("finished: %v; %s", r.Finished, d)
	}
	if d := cmp.Diff([]int{1, 2, 3}, f.started); d != "" {
		t.Errorf("services were started for %v", f.started)
	}
	if after, repeat := count(clientFrames(t, r, 2)), count(clientFrames(t, r, 3)); after != before || repeat != 3*10 {
		t.Errorf("%d frames of the trial that was killed, were %d; %d of its repeat", after, before, repeat)
	}
	if say := "trial 2 (web): interrupted: the conductor was restarted; it will be repeated\n"; !strings.Contains(log.String(), say) {
		t.Errorf("the log says\n%s", log)
	}

	// A finished run does not change.
	if err := again.Run(t.Context()); err != nil || len(f.started) != 3 {
		t.Errorf("%v; %d services were started", err, len(f.started))
	}
}

// A lab that is killed while it creates the record leaves a folder without run.json, in
// which nothing is to be resumed. A folder with other files is not one of a lab.
func TestALabThatDiedBeforeItsRecordIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name  string
			files []string
			works bool
		}{
			{"only the folder", nil, true},
			{"while it wrote run.json", []string{".run.json-123"}, true},
			{"something else", []string{"notes.txt"}, false},
		} {
			l, _, _ := testLab(t, shortExperiment, func(int, int) fakeLife { return fakeLife{} })
			l.Resume = true
			if err := os.MkdirAll(filepath.Join(l.Dir, record.LogsDir), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, name := range c.files {
				if err := os.WriteFile(filepath.Join(l.Dir, name), []byte("{"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := l.Run(t.Context())
			if (err == nil) != c.works {
				t.Errorf("%s: %v, want that it works: %v", c.name, err, c.works)
			}
			if c.works && !openRecord(t, l.Dir).Finished {
				t.Errorf("%s: it is not finished", c.name)
			}
		}
	})
}

func count(byAgent map[int][]*signals.Frame) (n int) {
	for _, frames := range byAgent {
		n += len(frames)
	}
	return n
}

// asKilled turns the record of an interrupted run into that of a killed lab: the last
// trial has no end, and its last frame is incomplete.
func asKilled(t *testing.T, dir string) {
	t.Helper()
	trials := filepath.Join(dir, record.TrialsFile)
	text, err := os.ReadFile(trials)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	if err := os.WriteFile(trials, []byte(strings.Join(lines[:len(lines)-1], "")), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{record.FramesFile, record.TrialsFile, record.LatencyFile} {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(`{"trial":2,"ce`); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
}

func TestARunIsNotResumedInAnotherRecord(t *testing.T) {
	synctest.Test(t, testARunIsNotResumedInAnotherRecord)
}

func testARunIsNotResumedInAnotherRecord(t *testing.T) {
	l, f, _ := testLab(t, shortExperiment, func(int, int) fakeLife { return fakeLife{} })
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Lab){
		"seed": func(l *Lab) { l.Seed = 2 },
		"experiment": func(l *Lab) {
			e, err := file.Parse("test.yaml", []byte(shortExperiment+"# changed\n"), nil)
			if err != nil {
				t.Fatal(err)
			}
			l.Experiment = e
		},
		"--set": func(l *Lab) {
			e, err := file.Parse("test.yaml", []byte(shortExperiment), []string{"load.users=8"})
			if err != nil {
				t.Fatal(err)
			}
			l.Experiment = e
		},
	} {
		other := &Lab{Experiment: l.Experiment, Platform: f, Seed: 1, Dir: l.Dir, Version: "test", NoHost: true, Resume: true}
		change(other)
		want := fmt.Sprintf("resume a run: %s has the record of another run: its %s differs; use another folder", l.Dir, name)
		if err := other.Run(t.Context()); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// A run whose secret has changed meanwhile would measure another service.
func TestARunIsNotResumedWithAnotherSecret(t *testing.T) {
	synctest.Test(t, testARunIsNotResumedWithAnotherSecret)
}

func testARunIsNotResumedWithAnotherSecret(t *testing.T) {
	key := secret.NewKey()
	with := func(token string) *experiment.Experiment {
		e, err := file.Parse("test.yaml", []byte(shortExperiment), []string{"services.web.env.TOKEN={from_env: TOKEN}"})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.ReadInputs("", func(string) string { return token }, schema.Read); err != nil {
			t.Fatal(err)
		}
		e.Seal(key)
		return e
	}
	l, f, log := testLab(t, shortExperiment, func(int, int) fakeLife { return fakeLife{} })
	l.Experiment = with("Mark3r-1")
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	resume := func(token string) error {
		again := &Lab{Experiment: with(token), Platform: f, Seed: 1, Dir: l.Dir, Version: "test", Log: log, NoHost: true, Resume: true}
		return again.Run(t.Context())
	}
	if err := resume("Mark3r-1"); err != nil {
		t.Errorf("with the same value: %v", err)
	}
	want := fmt.Sprintf("resume a run: the value of services.web.env.TOKEN is not the one that the run in %s began with; set that value again, or use another folder", l.Dir)
	if err := resume("Mark3r-2"); err == nil || err.Error() != want {
		t.Errorf("with another value: %v, want %s", err, want)
	}
}

func TestAQueueIsResumed(t *testing.T) {
	trial := func(number, cell, repeat, attempt int, o record.Outcome) record.Trial {
		return record.Trial{Trial: number, Cell: cell, Repeat: repeat, Attempt: attempt, Outcome: o}
	}
	q := newQueue(plan(experiment.Trial{Number: 1, Cell: 0, Repeat: 1}, experiment.Trial{Number: 2, Cell: 1, Repeat: 1},
		experiment.Trial{Number: 3, Cell: 1, Repeat: 2}, experiment.Trial{Number: 4, Cell: 0, Repeat: 2}), 2)
	next := q.resume([]record.Trial{
		trial(1, 0, 1, 0, record.Disturbed), // so it is repeated later
		trial(2, 1, 1, 0, record.Failed),
		trial(3, 1, 2, 0, record.Interrupted),
		trial(4, 1, 2, 0, record.Started),
	})
	if next != 5 || q.done != 1 || q.failures[1] != 1 || q.budget != 1 {
		t.Errorf("next is %d; %+v", next, q)
	}
	var left []string
	for a, ok := q.next(); ok; a, ok = q.next() {
		left = append(left, fmt.Sprintf("cell %d, repeat %d, attempt %d", a.Cell, a.Repeat, a.attempt))
	}
	want := []string{"cell 1, repeat 2, attempt 0", "cell 0, repeat 1, attempt 1", "cell 0, repeat 2, attempt 0"}
	if d := cmp.Diff(want, left); d != "" {
		t.Error(d)
	}
}
