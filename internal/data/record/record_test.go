package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/test/testkit"
)

// With this variable set the test binary writes a record until it is killed.
const writeForever = "MILLICORE_TEST_WRITE_RECORD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writeForever); dir != "" {
		w, err := Create(dir, testRun())
		for seq := 0; err == nil; seq++ {
			if err = w.Frame(clientFrame(seq, 50)); err == nil {
				err = w.Sync()
			}
			fmt.Println(seq) // this interval is on the disk
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func testRun() Run {
	value := "1"
	return Run{Version: Version, Started: time.UnixMilli(1_700_000_000_000).UTC(), Experiment: &experiment.Experiment{
		Name: "test", Cells: []experiment.Cell{{Service: experiment.Service{Name: "go"}, Vary: []experiment.Setting{{Name: "procs", Value: &value}}}},
	}}
}

func clientFrame(seq, good int) *signals.Frame {
	h := signals.NewHistogram()
	for i := range good {
		h.Record(time.Duration(i+1) * time.Millisecond)
	}
	start := int64(1_700_000_000_000+1000*seq) * 1e6
	agent := 0
	return &signals.Frame{Trial: 1, Seq: seq, Start: start, End: start + 1e9, Phase: signals.Measure, Agent: &agent,
		Client: &signals.Client{Good: int64(good), Status: map[string]int64{"UNAVAILABLE": 1}, Said: map[string]string{"UNAVAILABLE": "all away"}, Latency: h, Service: h, SendLag: signals.NewHistogram()}}
}

func frames(t *testing.T, dir string) []*signals.Frame {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all(t, r.Frames())
}

func TestReadWhatWasWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "record")
	w, err := Create(dir, testRun())
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []Trial{{Trial: 1, Outcome: Started}, {Trial: 1, Outcome: Disturbed, Why: "a neighbour"}, {Trial: 2, Attempt: 1, Outcome: Started}} {
		if err := w.Trial(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Frame(clientFrame(0, 100)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []Trial{{Trial: 1, Outcome: Disturbed, Why: "a neighbour"}, {Trial: 2, Attempt: 1, Outcome: Started}}
	if d := cmp.Diff(want, r.Trials); d != "" {
		t.Errorf("trials: %s", d)
	}
	all := frames(t, dir)
	if len(all) != 1 || all[0].Client.Latency.Count() != 100 || all[0].Client.Latency.Max() < 100*time.Millisecond {
		t.Errorf("frames: %+v", all)
	}
}

func TestWindowsSlowRequestsAndStepsAreRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "record")
	w, err := Create(dir, testRun())
	if err != nil {
		t.Fatal(err)
	}
	windows := []*signals.Window{
		{Trial: 1, Of: "go", Kind: signals.Throttled, Start: 10, End: 60, Throttled: 100, CPUs: 2},
		{Trial: 1, Of: "go", Index: 1, Kind: signals.Down, Start: 20, End: 90},
	}
	steps := []*signals.SearchStep{{Trial: 1, Stage: "bracket", Load: 100, Begin: 1, First: 3, Last: 7, Gone: "it was killed"}}
	f := clientFrame(0, 100)
	agent := 3
	f.Agent, f.Client.SlowSeen = &agent, 700
	f.Client.Slow = []signals.Slow{{Replica: 1, Intended: 5, Sent: 6, Done: 9, For: 350}, {Intended: 7, Sent: 7, Done: 12, TimedOut: true, For: 350}}
	slow := []*signals.SlowLine{{Trial: 1, Agent: 3, Slow: f.Client.Slow[0]}, {Trial: 1, Agent: 3, Slow: f.Client.Slow[1]}}
	for _, v := range windows {
		err = errors.Join(err, w.Window(v))
	}
	for _, v := range steps {
		err = errors.Join(err, w.Step(v))
	}
	err = errors.Join(err, w.Frame(f), w.Sync())
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Client.Slow) != 2 || f.Client.SlowSeen != 700 {
		t.Error("the caller's frame was changed")
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(windows, all(t, r.Windows())); d != "" {
		t.Errorf("windows: %s", d)
	}
	if d := cmp.Diff(slow, all(t, r.Slow())); d != "" {
		t.Errorf("slow requests: %s", d)
	}
	if d := cmp.Diff(steps, all(t, r.Steps())); d != "" {
		t.Errorf("steps: %s", d)
	}
	if f := all(t, r.Frames()); len(f) != 1 || f[0].Client.Slow != nil || f[0].Client.SlowSeen != 700 || f[0].Client.Latency.Count() != 100 {
		t.Errorf("frames: %+v", f[0].Client)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func TestAnOlderRecordHasNoWindowsSlowRequestsOrSteps(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "record")
	w, err := Create(dir, testRun())
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{"empty files", "no files"} {
		if n := len(all(t, r.Windows())) + len(all(t, r.Slow())) + len(all(t, r.Steps())); n != 0 {
			t.Errorf("%s: %d lines", state, n)
		}
		for _, file := range []string{WindowsFile, SlowFile, StepsFile} {
			os.Remove(filepath.Join(dir, file))
		}
	}
}

// A run that is killed before its first trial may have no files but run.json.
func TestARecordOfARunThatWasKilledAtItsBegin(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "record")
	w, err := Create(dir, testRun())
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	for _, file := range []string{TrialsFile, FramesFile} {
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
		if n := len(frames(t, dir)); n != 0 {
			t.Errorf("without %s: %d frames", file, n)
		}
	}
}

func TestALineOfACellThatIsNotInThePlanIsAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "record")
	w, err := Create(dir, testRun())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Window(&signals.Window{Trial: 1, Cell: 1}), w.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, err = range r.Windows() {
	}
	if err == nil || !strings.Contains(err.Error(), "windows.ndjson: line 1: it is of cell 1, of 1 in the plan") {
		t.Errorf("error %v", err)
	}
}

// all collects the values of an iterator.
func all[T any](t *testing.T, seq iter.Seq2[*T, error]) []*T {
	t.Helper()
	var got []*T
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v)
	}
	return got
}

func TestARecordIsNeverOverwritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "precious"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir, testRun()); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("Create in a folder with files: %v, want a refusal", err)
	}
}

// A killed run loses at most the current interval.
func TestAKilledRunKeepsEveryFrameThatWasSynced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "record")
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), writeForever+"="+dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	testkit.Start(t, c)
	lines := bufio.NewScanner(out)
	synced := -1
	for synced < 20 && lines.Scan() {
		fmt.Sscan(lines.Text(), &synced)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // its remaining output
		fmt.Sscan(lines.Text(), &synced)
	}
	c.Wait()
	if all := frames(t, dir); len(all) < synced+1 {
		t.Errorf("%d frames, want at least the %d that were synced", len(all), synced+1)
	}
	if n := hlogCount(t, filepath.Join(dir, LatencyFile)); n < int64(50*(synced+1)) {
		t.Errorf("latency.hlog holds %d values, want at least %d", n, 50*(synced+1))
	}
}

func TestAnIncompleteLastLineIsIgnored(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "record")
	w, err := Create(dir, testRun())
	if err != nil {
		t.Fatal(err)
	}
	for seq := range 3 {
		if err := w.Frame(clientFrame(seq, 10)); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	path := filepath.Join(dir, FramesFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for cut := last; cut < len(whole); cut++ {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		if n := len(frames(t, dir)); n != 2 {
			t.Fatalf("cut at byte %d: %d frames, want the 2 whole ones", cut, n)
		}
	}
}

func TestAnInvalidLineIsAnErrorWithItsNumber(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "record")
	w, err := Create(dir, testRun())
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := os.WriteFile(filepath.Join(dir, FramesFile), []byte(`{"trial":1}`+"\n{broken\n{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, err = range r.Frames() {
	}
	if err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("error %v, want one that names line 2", err)
	}
}

func TestOpenRefusesUnreadableRecords(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a newer format":     {`{"version": 99, "experiment": {}}`, "use a newer millicore"},
		"no experiment":      {`{"version": 1}`, "holds no experiment"},
		"not JSON":           {`quick`, "run.json"},
		"a folder of no run": {"", "name the folder of a run"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.text != "" {
				if err := os.WriteFile(filepath.Join(dir, RunFile), []byte(c.text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want it to say %q", err, c.want)
			}
		})
	}
	page := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(page, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(page); err == nil || !strings.HasSuffix(err.Error(), "it is a file; name the folder of a run, as in "+filepath.Dir(page)) {
		t.Errorf("a file of a record: %v", err)
	}
}

func hlogCount(t *testing.T, path string) int64 {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	in := hdrhistogram.NewHistogramLogReader(bytes.NewReader(data))
	var n int64
	for {
		h, err := in.NextIntervalHistogram()
		if err == io.EOF || h == nil {
			return n
		}
		if err != nil {
			return n // the incomplete last line of a killed run
		}
		if h.Tag() != "go_procs=1" {
			t.Errorf("tag %q, want the cell's label", h.Tag())
		}
		n += h.TotalCount()
	}
}

func TestNewDirDoesNotExist(t *testing.T) {
	base, now := t.TempDir(), time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	first := NewDir(base, "quick", now)
	if filepath.Base(first) != "quick-20260131-120000" {
		t.Errorf("folder %s", first)
	}
	if err := os.Mkdir(first, 0o755); err != nil {
		t.Fatal(err)
	}
	if second := NewDir(base, "quick", now); second != first+"-2" {
		t.Errorf("second folder %s, want %s-2", second, first)
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"trial":1,"client":{"latency":"HISTFAAAACF4nJNpmSzMwMDAyQABzFCaEUoz2X+AMABUmwKm"}}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		os.WriteFile(filepath.Join(dir, FramesFile), data, 0o644)
		r := &Record{Dir: dir, Run: testRun()}
		for frame, err := range r.Frames() {
			if err == nil && frame.Cell != 0 {
				t.Error("a frame of a cell that is not in the plan")
			}
		}
	})
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"trial":1,"cell":0,"of":"go","kind":"down","start":1,"end":2}` + "\n"))
	f.Add([]byte(`{"cell":-1}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		r := &Record{Dir: dir, Run: testRun()}
		for _, file := range []string{WindowsFile, SlowFile, StepsFile} {
			os.WriteFile(filepath.Join(dir, file), data, 0o644)
		}
		for w, err := range r.Windows() {
			if err == nil && w.Cell != 0 {
				t.Error("a window of a cell that is not in the plan")
			}
		}
		for l, err := range r.Slow() {
			if err == nil && l.Cell != 0 {
				t.Error("a slow request of a cell that is not in the plan")
			}
		}
		for s, err := range r.Steps() {
			if err == nil && s.Cell != 0 {
				t.Error("a step of a cell that is not in the plan")
			}
		}
	})
}
