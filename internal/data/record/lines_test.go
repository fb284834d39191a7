package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
)

// ofCells writes a record of three cells with these lines of frames.ndjson.
func ofCells(t *testing.T, lines ...string) *Record {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "record")
	run := testRun()
	cell := run.Experiment.Cells[0]
	run.Experiment.Cells = nil
	for i := range 3 {
		cell.Index = i
		run.Experiment.Cells = append(run.Experiment.Cells, cell)
	}
	w, err := Create(dir, run)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Trial(Trial{Trial: 1, Repeat: 1, Outcome: Done}), w.Close(),
		os.WriteFile(filepath.Join(dir, FramesFile), []byte(strings.Join(lines, "\n")), 0o600)); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func frameLine(trial, cell, seq int) string {
	return fmt.Sprintf(`{"trial":%d,"cell":%d,"seq":%d,"start":1,"end":2}`, trial, cell, seq)
}

// The lines of a cell are those of all its trials, wherever they are, however they are written.
func TestTheLinesOfOneCell(t *testing.T) {
	r := ofCells(t, frameLine(1, 0, 1), frameLine(2, 1, 2), frameLine(2, 1, 3), frameLine(3, 0, 4),
		`{"seq":5,"start":1,"end":2,"cell":1,"trial":4}`, ` { "trial" : 5 , "cell" : 0, "seq":6,"start":1,"end":2}`, frameLine(6, 1, 7), `{"trial":7,"cell":1`)
	for cell, want := range [][]int{{1, 4, 6}, {2, 3, 5, 7}, nil} {
		var got []int
		for f, err := range r.Of(cell).Frames() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, f.Seq)
		}
		if !slices.Equal(got, want) {
			t.Errorf("cell %d has the lines %v, want %v", cell, got, want)
		}
	}
}

// A line of another cell is not read, and one without a cell of the plan is an error of each.
func TestErrorsInTheLinesOfOneCell(t *testing.T) {
	broken := `{"trial":2,"cell":1,"seq":broken}`
	for _, c := range []struct {
		name, line string
		cell       int
		want       string
	}{
		{"a broken line of the cell", broken, 1, "line 2: invalid character 'b'"},
		{"a broken line of another cell", broken, 0, ""},
		{"a figure beyond the bounds", `{"trial":2,"cell":1,"seq":2,"start":1,"end":9223372036854775807}`, 1, "line 2: it.End is 9223372036854775807"},
		{"no cell of the plan", frameLine(2, 3, 1), 0, "line 2: it is of cell 3, of 3 in the plan"},
		{"a cell below 0", frameLine(2, -1, 1), 0, "line 2: it is of cell -1, of 3 in the plan"},
		{"two cells", `{"trial":2,"cell":1,"seq":1,"start":1,"end":2,"cell":0}`, 1, "line 2: it is of two cells"},
		{"no JSON", "nothing", 0, "line 2: invalid character 'o'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var failed error
			for _, err := range ofCells(t, frameLine(1, 0, 1), c.line, frameLine(3, 0, 1), "").Of(c.cell).Frames() {
				failed = errors.Join(failed, err)
			}
			if (failed == nil) != (c.want == "") || failed != nil && !strings.Contains(failed.Error(), c.want) {
				t.Errorf("%v, want %q", failed, c.want)
			}
		})
	}
}

// Frames that were logged cell by cell are in the log in the order of the trials.
func TestALogIsInTheOrderOfTheTrials(t *testing.T) {
	logged := func(trials ...int) string {
		path := filepath.Join(t.TempDir(), LatencyFile)
		e := &experiment.Experiment{Cells: make([]experiment.Cell, 1)}
		err := ReplaceHlog(path, e, time.UnixMilli(1_700_000_000_000), func(h *Hlog) (err error) {
			for seq, trial := range trials {
				f := clientFrame(10*trial, 5)
				f.Trial, f.Seq = trial, seq
				err = errors.Join(err, h.Frame(f))
			}
			return err
		})
		text, read := os.ReadFile(path)
		if err := errors.Join(err, read); err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	want := logged(1, 2, 2, 3, 4)
	if n := strings.Count(want, "Tag="); n != 5 {
		t.Fatalf("%d lines, want 5", n)
	}
	if got := logged(2, 2, 4, 1, 3); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
