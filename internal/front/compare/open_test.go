package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"time"

	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
)

// keep puts a small record into a folder: each trial of a cell is one frame
// with a hundred equal latencies, in ms.
func keep(t *testing.T, dir string, cells map[string][]float64) {
	t.Helper()
	s := fixture(dir, cells)
	run := *s.Cells[0].Run
	run.Version = record.Version
	var trials, frames []byte
	line := func(to []byte, v any) []byte {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return append(append(to, text...), '\n')
	}
	number := 0
	for i := range s.Cells {
		run.Experiment.Cells = append(run.Experiment.Cells, *s.Cells[i].Plan)
		for k, figure := range s.Cells[i].Figures.PerTrial {
			number++
			h := signals.NewHistogram()
			for range 100 {
				h.Record(time.Duration(*figure.P99 * float64(time.Millisecond)))
			}
			trials = line(trials, record.Trial{Trial: number, Cell: i, Repeat: k + 1, Outcome: record.Done})
			agent := 0
			frames = line(frames, signals.Frame{Trial: number, Cell: i, Start: 1e9, End: 2e9, Phase: signals.Measure, Agent: &agent,
				Client: &signals.Client{Good: 100, Status: map[string]int64{"200": 100}, Latency: h, Service: h, SendLag: signals.NewHistogram()}})
		}
	}
	run.Experiment.Measure = experiment.Measure{Duration: time.Second, Interval: time.Second, Repeats: 6}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{record.RunFile: line(nil, run), record.TrialsFile: trials, record.FramesFile: frames} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRecordsAreReadFromTheirFrames(t *testing.T) {
	before, after := filepath.Join(t.TempDir(), "before#1"), filepath.Join(t.TempDir(), "after")
	keep(t, before, map[string][]float64{"1": quick, "2": quick, "6": quick})
	keep(t, after, map[string][]float64{"1": slow, "2": quite})
	open := func(argument string) *Selection {
		t.Helper()
		s, err := Open(record.Own, argument)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	t.Run("two records, cell by cell", func(t *testing.T) {
		matches, onlyA, onlyB, err := Pairs(open(before), open(after))
		if err != nil || len(matches) != 2 || !slices.Equal(onlyA, []string{"go procs=6"}) || onlyB != nil {
			t.Fatalf("%d matches, only %v and %v, %v", len(matches), onlyA, onlyB, err)
		}
		r, err := Compare(matches, false)
		if err != nil {
			t.Fatal(err)
		}
		row := r.Pairs[0].Row("p99")
		if row.Verdict != verdict.Higher || *row.A < 165 || *row.A > 167 || *row.B < 703 || *row.B > 705 {
			t.Errorf("%+v", *row)
		}
	})
	t.Run("two cells of one record", func(t *testing.T) {
		matches, _, _, err := Pairs(open(before+"#go procs=1"), open(before+"#2"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Compare(matches, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Pairs[0]; got.A != "go procs=1" || got.B != "go procs=6" || got.differs() != "procs 1 → 6" {
			t.Errorf("%q %q: %s", got.A, got.B, got.differs())
		}
	})
	t.Run("cells by their names in the report", func(t *testing.T) {
		for _, name := range []string{"procs=2", "go procs=2", " go  procs=2", "1"} {
			if s := open(before + "#" + name); !s.One || s.Cells[0].Figures.Label != "go procs=2" {
				t.Errorf("%q selects %q", name, s.Cells[0].Figures.Label)
			}
		}
	})
	t.Run("only the cells that are compared are read", func(t *testing.T) {
		path := filepath.Join(before, record.FramesFile)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		defer os.WriteFile(path, text, 0o644)
		damaged := bytes.Replace(text, []byte(`"cell":1,"seq":0,`), []byte(`"cell":1,"seq":x,`), 1)
		if err := os.WriteFile(path, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := Pairs(open(before+"#0"), open(before+"#2")); err != nil {
			t.Error(err)
		}
		if _, _, _, err := Pairs(open(before+"#0"), open(before+"#1")); err == nil || !strings.Contains(err.Error(), "line 7: invalid character 'x'") {
			t.Errorf("of a damaged cell: %v", err)
		}
	})
	t.Run("one cell against a record", func(t *testing.T) {
		matches, onlyA, onlyB, err := Pairs(open(before+"#1"), open(after))
		if err != nil || len(matches) != 1 || matches[0].B.Figures.Label != "go procs=2" || onlyA != nil || onlyB != nil {
			t.Errorf("%v %v %v %v", matches, onlyA, onlyB, err)
		}
	})
}

func TestMistakesAreToldFromFailures(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	keep(t, one, map[string][]float64{"1": quick, "2": quick})
	keep(t, two, map[string][]float64{"6": slow})
	var words *WordsError
	if _, err := Open(record.Own, filepath.Join(dir, "none")); err == nil || errors.As(err, &words) {
		t.Errorf("no record: %v", err)
	}
	if _, err := Open(record.Own, one+"#go procs=3"); !errors.As(err, &words) || !strings.Contains(err.Error(), `its cells are 0 "go procs=1", 1 "go procs=2"`) {
		t.Errorf("no such cell: %v", err)
	}
	for _, c := range []struct{ a, b, want string }{
		{one, one, "is named twice; name two of its cells"},
		{one, one + "#0", "is named twice"},
		{one + "#1", one + "#1", "compared with itself"},
		{two, two, "compared with itself"},
		{one, two, `no cell of ` + one + ` has its label in`},
	} {
		a, errA := Open(record.Own, c.a)
		b, errB := Open(record.Own, c.b)
		if err := errors.Join(errA, errB); err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := Pairs(a, b); !errors.As(err, &words) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s against %s: %v, want %q", c.a, c.b, err, c.want)
		}
	}
}
