package record

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
)

// torn appends an incomplete line, as a killed writer leaves it.
func torn(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestAppend(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "record")
	w, err := Create(dir, testRun())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{w.Trial(Trial{Trial: 1, Outcome: Started}), w.Frame(clientFrame(0, 100)), w.Frame(clientFrame(1, 100)), w.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	torn(t, filepath.Join(dir, FramesFile), `{"trial":1,"cell":0,"se`)
	torn(t, filepath.Join(dir, TrialsFile), strings.Repeat("x", 100_000)) // longer than a block of the search
	torn(t, filepath.Join(dir, LatencyFile), "Tag=go_procs=1,170")
	if err := os.Remove(filepath.Join(dir, StepsFile)); err != nil { // as if it was never created
		t.Fatal(err)
	}

	if w, err = Append(dir); err != nil {
		t.Fatal(err)
	}
	ended := Trial{Trial: 1, Outcome: Interrupted, Why: "the conductor was restarted", LostAgents: []int{2, 5}}
	for _, err := range []error{w.Trial(ended), w.Frame(clientFrame(2, 50)), w.Trial(Trial{Trial: 2, Outcome: Started}), w.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Trial{ended, {Trial: 2, Outcome: Started}}, r.Trials); d != "" {
		t.Error(d)
	}
	var seqs []int
	for _, f := range frames(t, dir) {
		seqs = append(seqs, f.Seq)
	}
	if d := cmp.Diff([]int{0, 1, 2}, seqs); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int64{100, 100, 50}, logged(t, filepath.Join(dir, LatencyFile))); d != "" {
		t.Errorf("%s: %s", LatencyFile, d)
	}
}

// logged are the numbers of values of each interval of a log, read with the library.
func logged(t *testing.T, path string) (counts []int64) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("HistogramLogWriter")) + bytes.Count(text, []byte("#[Histogram log format")); n > 1 {
		t.Errorf("the log has %d heads:\n%s", n, text)
	}
	for r := hdrhistogram.NewHistogramLogReader(bytes.NewReader(text)); ; {
		h, err := r.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			return counts
		}
		counts = append(counts, h.TotalCount())
	}
}

func TestAppendToAnEmptyRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "record")
	w, err := Create(dir, testRun())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{FramesFile, TrialsFile, LatencyFile} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if w, err = Append(dir); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{w.Trial(Trial{Trial: 1, Outcome: Done}), w.Frame(clientFrame(0, 7)), w.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := logged(t, filepath.Join(dir, LatencyFile)); len(got) != 1 || got[0] != 7 {
		t.Errorf("the log has %v", got)
	}
}

func TestAppendNeedsARecord(t *testing.T) {
	if _, err := Append(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no run.json in it") {
		t.Errorf("%v", err)
	}
}
