package record

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
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
