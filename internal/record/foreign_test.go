package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
)

// foreign is the folder of a record, of which a test replaces files.
func foreign(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "record")
	w, err := Create(dir, testRun())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Trial(Trial{Trial: 1, Repeat: 1, Outcome: Done}), w.Frame(clientFrame(0, 1)), w.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// readAll reads a record as its results are computed.
func readAll(with Reader, dir string) error {
	r, err := with.Open(dir)
	if err != nil {
		return err
	}
	for _, err := range r.Frames() {
		if err != nil {
			return err
		}
	}
	for _, err := range r.Steps() {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestOnlyRegularFilesOfTheFolderAreOpened(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{RunFile, TrialsFile, FramesFile, StepsFile} {
		for name, replace := range map[string]func(path string) error{
			"a pipe":                   func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"a link to a file outside": func(path string) error { return os.Symlink(outside, path) },
			"a link to a device":       func(path string) error { return os.Symlink("/dev/zero", path) },
			"a link to a pipe beside": func(path string) error {
				return errors.Join(syscall.Mkfifo(path+"-pipe", 0o600), os.Symlink(filepath.Base(path)+"-pipe", path))
			},
			"a link that leads upwards": func(path string) error { return os.Symlink("../record/../../x", path) },
			"a folder":                  func(path string) error { return os.Mkdir(path, 0o755) },
		} {
			t.Run(file+" is "+name, func(t *testing.T) {
				dir := foreign(t)
				path := filepath.Join(dir, file)
				if err := errors.Join(os.Remove(path), replace(path)); err != nil {
					t.Fatal(err)
				}
				if err := readAll(Reader{Size: DefaultSize}, dir); err == nil || errors.Is(err, os.ErrNotExist) {
					t.Errorf("read with the error %v", err)
				}
			})
		}
	}
}

func TestALinkWithinTheFolderIsFollowed(t *testing.T) {
	dir := foreign(t)
	path := filepath.Join(dir, FramesFile)
	if err := errors.Join(os.Rename(path, path+".kept"), os.Symlink(FramesFile+".kept", path)); err != nil {
		t.Fatal(err)
	}
	if err := readAll(Reader{Size: DefaultSize}, dir); err != nil {
		t.Error(err)
	}
}

func TestBoundsOfARecord(t *testing.T) {
	sparse := func(file string, size int64) func(dir string) error {
		return func(dir string) error { return os.Truncate(filepath.Join(dir, file), size) }
	}
	filled := func(file, text string) func(dir string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600) }
	}
	const mib = 1 << 20
	for _, c := range []struct {
		name  string
		spoil func(dir string) error
		want  string
	}{
		{"files beyond the size", sparse(FramesFile, DefaultSize+1), "its files have 1024 MiB, more than the 1024 MiB that are read; if you trust the record, use --max-size 2Gi"},
		{"a file of zeros", sparse(FramesFile, 100*mib), "line 2: it is longer than 16 MiB; if you trust the record, read it with --max-size 4Gi"},
		{"a long line", filled(FramesFile, `{"of":"`+strings.Repeat("x", 17*mib)+"\"}\n"), "line 1: it is longer than 16 MiB"},
		{"a long run.json", sparse(RunFile, 65*mib), "run.json has more than 64 MiB"},
		{"many small values", filled(StepsFile, `{"trial":1,"x":[`+strings.Repeat("{},", 600_000)+"{}]}\n"), "it has more than 524288 values"},
		{"many cells", filled(RunFile, `{"experiment":{"cells":[`+strings.Repeat("{},", 600_000)+"{}]}}"), "it has more than 524288 values"},
		{"more cells than an experiment has", filled(RunFile, `{"experiment":{"cells":[`+strings.Repeat("{},", 1000)+"{}]}}"), "the experiment has more than 1000 cells"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := foreign(t)
			if err := c.spoil(dir); err != nil {
				t.Fatal(err)
			}
			if err := readAll(Reader{Size: DefaultSize}, dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %q", err, c.want)
			}
		})
	}
}

func TestBoundsAreLifted(t *testing.T) {
	dir := foreign(t)
	if err := os.WriteFile(filepath.Join(dir, StepsFile), []byte(`{"trial":1,"load":5,"gone":"`+strings.Repeat("x", 17<<20)+"\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, with := range []Reader{{Size: 4 * DefaultSize}, Own} {
		if err := readAll(with, dir); err != nil {
			t.Errorf("%+v: %v", with, err)
		}
	}
}

func TestCommasInTextAreNoValues(t *testing.T) {
	text := fmt.Sprintf(`{"trial":1,"of":"%s"}`, strings.Repeat(`,\",`, 600_000))
	if err := (Reader{Size: DefaultSize}).values([]byte(text)); err != nil {
		t.Error(err)
	}
}

func TestAStoppedReader(t *testing.T) {
	stop := make(chan struct{})
	close(stop)
	if err := readAll(Reader{Stop: stop}, foreign(t)); !errors.Is(err, ErrStopped) {
		t.Errorf("%v, want ErrStopped", err)
	}
}

func TestTheSecondPartIsAFolderOfTheRecord(t *testing.T) {
	elsewhere := foreign(t)
	for _, c := range []struct {
		name string
		make func(path string) error
		want string
	}{
		{"nothing", func(string) error { return nil }, ""},
		{"a link to the record itself", func(path string) error { return os.Symlink(".", path) }, "common-load is not a folder"},
		{"a link to another record", func(path string) error { return os.Symlink(elsewhere, path) }, "common-load is not a folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := foreign(t)
			if err := c.make(filepath.Join(dir, CommonDir)); err != nil {
				t.Fatal(err)
			}
			r, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if part, err := r.Common(); (err == nil) != (c.want == "") || part != nil || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %v; want %q", part, err, c.want)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	for want, text := range map[string]string{
		"":                            `{"cells":[{"load":{"find":true,"rate":{"value":50}}}],"measure":{"interval":500000000}}`,
		"the experiment has no cells": `{}`,
		"cell 1: its index is 0":      `{"cells":[{},{}]}`,
		"cell 0: its breaking point is searched, and it has no load to start with": `{"cells":[{"load":{"find":true}}],"measure":{"interval":1000000}}`,
		"cell 0: its breaking point is searched in intervals of 0s":                `{"cells":[{"load":{"find":true,"rate":{"value":50}}}]}`,
		"cell 0: its load has users and a rate":                                    `{"cells":[{"load":{"users":{"value":1},"rate":{"value":50}}}]}`,
		"cell 0: a stage of its load takes -1ns and leads to 1":                    `{"cells":[{"load":{"users":{"stages":[{"target":1,"duration":-1}]}}}]}`,
		"measure.interval is 1h0m0s":                                               `{"cells":[{}],"measure":{"interval":3600000000000}}`,
		".Experiment.Cells.Load.Rate.Value is 1e+300":                              `{"cells":[{"load":{"rate":{"value":1e300}}}]}`,
		".Experiment.Measure.Warmup is -2562047h47m16.854775808s":                  `{"cells":[{}],"measure":{"warmup":-9223372036854775808}}`,
		"claim 1 is about cell 7, of 1":                                            `{"cells":[{}],"claims":[{"of":{"cell":7}}]}`,
	} {
		run := Run{Experiment: &experiment.Experiment{}}
		if err := json.Unmarshal([]byte(text), run.Experiment); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := Validate(&run); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestLinesThatAreNotOfARunAreRefused(t *testing.T) {
	for _, c := range []struct{ file, line, want string }{
		{TrialsFile, `{"trial":0}`, "it is of trial 0"},
		{TrialsFile, `{"trial":1,"cell":-1}`, "it is of cell -1, of 1 in the plan"},
		{FramesFile, `{"trial":1,"cell":1}`, "it is of cell 1, of 1 in the plan"},
		{FramesFile, `{"trial":1,"seq":-1}`, "it is interval -1"},
		{FramesFile, `{"trial":1,"start":2,"end":1}`, "it is from 2 to 1"},
		{FramesFile, `{"trial":1,"server":{"cpu_s":1e300}}`, "it.Server.CPU is 1e+300"},
		{FramesFile, `{"trial":1,"waits":{"bounds":[1],"counts":[1]}}`, "its waits have 1 bounds and 1 counts"},
		{StepsFile, `{"trial":1}`, "it is a step at a load of 0"},
		{StepsFile, `{"trial":1,"load":5,"first":5,"last":-1}`, "its window is from interval 5 to -1"},
		{StepsFile, strings.Repeat(`{"trial":1,"load":5}`+"\n", mostSteps+1), "trial 1 has more than 1000 steps"},
	} {
		dir := foreign(t)
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := readAll(Own, dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %q", c.line, err, c.want)
		}
	}
	// A step that never reached its window is one of a run.
	dir := foreign(t)
	if err := os.WriteFile(filepath.Join(dir, StepsFile), []byte(`{"trial":1,"load":5,"first":0,"last":-1}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := readAll(Own, dir); err != nil {
		t.Error(err)
	}
}

func TestStagesOfAllTrialsAreBounded(t *testing.T) {
	run := testRun()
	run.Experiment.Cells[0].Load = experiment.Load{Rate: &experiment.Target{Stages: make([]experiment.Stage, mostStages)}}
	r := Record{Run: run}
	for trial := 1; trial <= mostLevels/mostStages; trial++ {
		if err := r.oneMore(&Trial{Trial: trial}); err != nil {
			t.Fatalf("trial %d: %v", trial, err)
		}
	}
	if err := r.oneMore(&Trial{}); err == nil || !strings.Contains(err.Error(), "stages of all trials") {
		t.Errorf("one more trial: %v, want a refusal", err)
	}
}

// The largest experiment that a file can describe has a record within the bounds.
func TestTheLargestExperimentIsWithinTheBounds(t *testing.T) {
	run := testRun()
	cell := run.Experiment.Cells[0]
	cell.Service.Command = strings.Fields(strings.Repeat("argument ", 20))
	cell.Service.Env = map[string]string{"A": "1", "B": "2", "C": "3"}
	run.Experiment.Cells = nil
	for i := range experiment.MostCells {
		cell.Index = i
		run.Experiment.Cells = append(run.Experiment.Cells, cell)
	}
	run.Experiment.Measure.Repeats = experiment.MostTrials / experiment.MostCells
	run.Plan = run.Experiment.Plan(1)
	dir := filepath.Join(t.TempDir(), "record")
	w, err := Create(dir, run)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := readAll(Reader{Size: DefaultSize}, dir); err != nil {
		t.Error(err)
	}
}

// A record is not read if what its lines become takes much more memory than they do.
func TestMemoryOfARecordIsBounded(t *testing.T) {
	dir := foreign(t)
	frame := clientFrame(0, 2)
	for us := int64(1); us < int64(2*time.Hour/time.Microsecond); us += 1 + us>>10 { // each bucket once
		frame.Client.Latency.Record(time.Duration(us) * time.Microsecond)
	}
	text, err := json.Marshal(frame)
	if err != nil {
		t.Fatal(err)
	}
	const frames = 200
	if err := os.WriteFile(filepath.Join(dir, FramesFile), bytes.Repeat(append(text, '\n'), frames), 0o600); err != nil {
		t.Fatal(err)
	}
	keep := func(with Reader) (kept []*signals.Frame, err error) {
		r, err := with.Open(dir)
		if err != nil {
			return nil, err
		}
		for f, err := range r.Frames() {
			if err != nil {
				return kept, err
			}
			kept = append(kept, f)
		}
		return kept, nil
	}
	kept, err := keep(Reader{Size: DefaultSize, memory: 32 << 20})
	if err == nil || !strings.Contains(err.Error(), "reading it takes more than 32 MiB of memory; if you trust the record, read it with --max-size 4Gi") {
		t.Errorf("%d of %d frames were read: %v", len(kept), frames, err)
	}
	for name, with := range map[string]Reader{"foreign": {Size: DefaultSize}, "own": Own} {
		if kept, err := keep(with); err != nil || len(kept) != frames {
			t.Errorf("%s: %d frames, %v", name, len(kept), err)
		}
	}
	if got := (Reader{Size: DefaultSize}).mostMemory(1 << 20); got != 1<<30+128<<20 {
		t.Errorf("bound %d for a megabyte", got)
	}
	if got := (Reader{Size: 4 * DefaultSize}).mostMemory(DefaultSize); got != 32<<30 {
		t.Errorf("bound %d for a gigabyte with --max-size 4Gi", got)
	}
}

// An agent counts requests: a negative number is not a record of one. Reports showed a rate
// of -10 requests/s.
func TestANegativeCountIsNotARecord(t *testing.T) {
	for _, change := range []func(*signals.Client){
		func(c *signals.Client) { c.Good = -5 },
		func(c *signals.Client) { c.Timeouts = -1 },
		func(c *signals.Client) { c.Status = map[string]int64{"200": -1} },
	} {
		dir := foreign(t)
		frame := clientFrame(0, 1)
		change(frame.Client)
		line, err := json.Marshal(frame)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, FramesFile), append(line, '\n'), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := readAll(Reader{Size: DefaultSize}, dir); err == nil || !strings.Contains(err.Error(), "of the agent is -") {
			t.Errorf("read with the error %v", err)
		}
	}
}
