package results

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
)

// repeated writes the record of one planned trial that was disturbed at first, with one
// measured frame of each attempt, and returns its folder.
func repeated(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "record")
	service := experiment.Service{Name: "go"}
	e := &experiment.Experiment{Name: "repeated", Measure: experiment.Measure{Interval: time.Second, Duration: time.Minute},
		Cells: []experiment.Cell{{Service: service, Load: experiment.Load{Users: &experiment.Target{Value: 10}}}}}
	w, err := record.Create(dir, record.Run{Experiment: e, Plan: []experiment.Trial{{Number: 1, Repeat: 1}}, Started: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	write := func(trial int, outcome record.Outcome) error {
		agent, latency := 0, signals.NewHistogram()
		latency.Record(time.Millisecond)
		frame := &signals.Frame{Trial: trial, Seq: 1, Phase: signals.Measure, Start: 1e9, End: 2e9, Agent: &agent,
			Client: &signals.Client{Good: 1, Status: map[string]int64{"200": 1}, Latency: latency, Service: latency, SendLag: latency}}
		return errors.Join(w.Trial(record.Trial{Trial: trial, Repeat: 1, Attempt: trial - 1, Outcome: record.Started}), w.Frame(frame),
			w.Trial(record.Trial{Trial: trial, Repeat: 1, Attempt: trial - 1, Outcome: outcome}))
	}
	if err := errors.Join(write(1, record.Disturbed), write(2, record.Done), w.Finish(time.Unix(9, 0)), w.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func logged(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, record.LatencyFile))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "Tag=")
}

func TestOpenWritesNothing(t *testing.T) {
	dir := repeated(t)
	frames := 0
	r, err := Open(record.Own, dir, func(*signals.Frame) { frames++ })
	if err != nil {
		t.Fatal(err)
	}
	if frames != 2 || r.Summary.Cells[0].Requests != 1 || logged(t, dir) != 2 {
		t.Errorf("%d frames read, %d requests, %d in the log; want 2, 1, 2", frames, r.Summary.Cells[0].Requests, logged(t, dir))
	}
}

func TestDeriveLogsTheCountedTrialsInOnePass(t *testing.T) {
	dir := repeated(t)
	frames := 0
	r, err := Derive(record.Own, dir, func(*signals.Frame) { frames++ })
	if err != nil || r.Unwritten != nil {
		t.Fatal(err, r.Unwritten)
	}
	if frames != 2 || r.Summary.Cells[0].Requests != 1 || logged(t, dir) != 1 {
		t.Errorf("%d frames read, %d requests, %d in the log; want 2, 1, 1", frames, r.Summary.Cells[0].Requests, logged(t, dir))
	}
}

func TestDeriveReadsARecordWhoseLogCannotBeReplaced(t *testing.T) {
	dir := repeated(t)
	log := filepath.Join(dir, record.LatencyFile)
	if err := errors.Join(os.Remove(log), os.MkdirAll(filepath.Join(log, "taken"), 0o755)); err != nil {
		t.Fatal(err)
	}
	frames := 0
	r, err := Derive(record.Own, dir, func(*signals.Frame) { frames++ })
	if err != nil {
		t.Fatal(err)
	}
	if r.Unwritten == nil || frames != 2 || r.Summary.Cells[0].Requests != 1 {
		t.Errorf("unwritten: %v; %d frames read, %d requests; want an error, 2, 1", r.Unwritten, frames, r.Summary.Cells[0].Requests)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".latency*")); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

// What a command that was killed left in the record is removed by the next one; other
// files stay.
func TestDeriveRemovesWhatAKilledCommandLeft(t *testing.T) {
	dir := repeated(t)
	left := []string{".latency.hlog-12/latency.hlog", ".summary.json-34", ".report.html-56", "logs/trial-001/.log-78"}
	kept := []string{".notes-12", ".report.html-mine", "logs/trial-001/go.log"}
	for _, name := range append(left, kept...) {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Derive(record.Own, dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range left {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
	if folder := filepath.Join(dir, filepath.Dir(left[0])); exists(folder) {
		t.Errorf("%s is left", folder)
	}
	for _, name := range kept {
		if !exists(filepath.Join(dir, name)) {
			t.Errorf("%s was removed", name)
		}
	}
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
