package chaos

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/record"
)

// readable checks that `millicore report` reads a record, and counts its intervals.
func (a *attempt) readable(t *testing.T, name string, whole bool, struck time.Time) {
	t.Helper()
	dir := filepath.Join(a.box.Work, name)
	seen := a.box.Seen(dir)
	if _, err := os.Stat(filepath.Join(seen, record.RunFile)); errors.Is(err, fs.ErrNotExist) {
		if whole || a.Target != Lab && a.Target != Record && a.Target != State {
			t.Errorf("there is no record %s, although neither lab nor disk was the target", name)
		}
		return
	}
	var out, errs bytes.Buffer
	report := a.box.Command(0, "report", dir, "--json")
	report.Stdout, report.Stderr = &out, &errs
	err := report.Run()
	var s summary.Summary
	if jsonErr := json.Unmarshal(out.Bytes(), &s); jsonErr != nil || report.ProcessState.ExitCode() != 0 && report.ProcessState.ExitCode() != 98 && report.ProcessState.ExitCode() != 99 && !s.Invalid() {
		t.Errorf("the record %s cannot be read: %v, %v:\n%s", name, err, jsonErr, &errs)
		return
	}
	r, err := record.Open(seen)
	if err != nil {
		t.Errorf("the record %s cannot be read: %v", name, err)
		return
	}
	if whole && !r.Finished {
		t.Errorf("the record %s is not finished", name)
	}
	planned := int((a.Load + interval - 1) / interval)
	found, err := Count(r.Frames(), interval, planned, struck, begins(t, seen))
	if err != nil {
		t.Errorf("the record %s cannot be read: %v", name, err)
	}
	if err := Follow(r.Frames(), 10*time.Second); err != nil {
		t.Errorf("the record %s: %v", name, err)
	}
	if slices.Contains(outcomes(r), record.Invalid) {
		t.Errorf("the record %s has an invalid trial, although no limit was changed: %s", name, r.Trials[len(r.Trials)-1].Why)
	}
	if found.Lost > a.allowed() {
		t.Errorf("the record %s lost %d intervals of %d, want %d at most", name, found.Lost, found.Lost+found.Kept, a.allowed())
	}
	if name == "first" {
		a.Intervals = found
		t.Logf("%d intervals, %d lost, outcomes %v", found.Kept, found.Lost, outcomes(r))
	}
}

// begins are the times at which the services of a record's trials had their first request,
// from their logs.
func begins(t *testing.T, dir string) map[int]time.Time {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, record.LogsDir, "trial-*", "*-service-0.log"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[int]time.Time{}
	for _, name := range logs {
		var trial int
		var at int64
		if _, err := fmt.Sscanf(filepath.Base(filepath.Dir(name)), "trial-%d", &trial); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, line, _ := strings.Cut(string(text), "server: first sleep at ")
		if _, err := fmt.Sscan(line, &at); err == nil { // none if it had no request
			all[trial] = time.Unix(0, at)
		}
	}
	return all
}

// allowed is how many intervals a record may lack: the one in which the run broke off, and
// the one that was complete and not yet on the disk. An agent in the emulated machine may
// be a second behind.
func (a *attempt) allowed() int {
	if a.Platform == "vm" {
		return 1 + int(time.Second/interval)
	}
	return 1
}

func outcomes(r *record.Record) (all []record.Outcome) {
	for _, t := range r.Trials {
		all = append(all, t.Outcome)
	}
	return all
}

// clean runs `millicore clean`.
func (a *attempt) clean(t *testing.T) {
	t.Helper()
	out, err := a.box.Command(0, append([]string{"clean"}, a.on.On()...)...).CombinedOutput()
	if err != nil {
		t.Errorf("`millicore clean`: %v\n%s", err, out)
	}
}

// left are the things of the attempt's runs that exist.
func (a *attempt) left(t *testing.T) []string {
	t.Helper()
	inside, err1 := a.box.left()
	outside, err2 := a.on.Left(a.labs)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return append(inside, outside...)
}

// next checks that the next run works, and leaves nothing.
func (a *attempt) next(t *testing.T) {
	t.Helper()
	p := a.start(t, 0, "next", "--set", "measure.duration=600ms")
	p.Ends(t, endsIn)
	if p.ProcessState.ExitCode() != 0 {
		t.Errorf("the next run ended with %v:\n%s", p.ProcessState, &p.Err)
	}
	r, err := record.Open(a.box.Seen(filepath.Join(a.box.Work, "next")))
	if err != nil || !r.Finished {
		t.Errorf("the next run is not finished: %v\n%s", err, &p.Err)
	}
	if left := a.left(t); len(left) > 0 {
		t.Errorf("the next run left %q", left)
	}
}
