package derived

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/front/compare"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/internal/show/report"
	"github.com/millicore/millicore/internal/show/report/html"
	"github.com/millicore/millicore/internal/show/report/junit"
	"github.com/millicore/millicore/internal/show/report/text"
	"github.com/millicore/millicore/test/corpus"
	"github.com/millicore/millicore/test/testkit"
)

// bounded reads records as `report` and `compare` do.
var bounded = record.Reader{Size: record.DefaultSize}

// show derives everything that is shown of the record in a folder. An error is an answer
// to a foreign record, a panic is not.
func show(dir string) error {
	d, err := results.Open(bounded, dir)
	if err != nil {
		return err
	}
	blocks := report.New(d.Summary).Blocks()
	return errors.Join(
		report.JSON(io.Discard, d.Summary), report.CSV(io.Discard, d.Summary), html.Page(io.Discard, d),
		text.Terminal(io.Discard, blocks, display.Terminal{Width: 100}), text.Markdown(io.Discard, blocks),
		junit.Write(io.Discard, []junit.Suite{junit.Of(d.Summary)}), showCompared(dir))
}

// showCompared compares the first two cells of a record.
func showCompared(dir string) error {
	a, err := compare.Open(bounded, dir+"#0")
	if err != nil {
		return err
	}
	b, err := compare.Open(bounded, dir+"#1")
	if err != nil {
		return err
	}
	matches, _, _, err := compare.Pairs(a, b)
	if err != nil {
		return err
	}
	r, err := compare.Compare(matches, true)
	if err != nil {
		return err
	}
	return errors.Join(compare.JSON(io.Discard, r), compare.CSV(io.Discard, r), compare.BenchmarkMatches(io.Discard, matches),
		text.Markdown(io.Discard, r.Blocks(true)))
}

// survives shows a record, and reports a panic with what was changed in it. A derivation
// that does not end within a minute ends the test.
func survives(t *testing.T, dir, change string) {
	t.Helper()
	hangs := time.AfterFunc(time.Minute, func() { panic("the derivation does not end: " + change) })
	defer hangs.Stop()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: %v\n%s", change, r, debug.Stack())
		}
	}()
	_ = show(dir)
}

// sources are small records of every kind.
func sources(t testing.TB) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, c := range []struct {
		name, level string
		labels      []string
	}{
		{name: "two-identical"}, {name: "ramp-identical"}, {name: "dependency-reported"},
		{"try-searches", "try-level", []string{"as it is", "GOMAXPROCS=8", "GOMAXPROCS=4"}},
		{"try-limits", "try-limits-level", []string{"as it is", "GOMAXPROCS=1", "as it is", "GOMAXPROCS=1"}},
	} {
		dir := simulated(t, c.name)
		if c.level != "" {
			part := simulated(t, c.level)
			if err := os.Rename(part, filepath.Join(dir, record.CommonDir)); err != nil {
				t.Fatal(err)
			}
			serve(t, dir, c.labels)
		}
		all[c.name] = dir
	}
	all["benchmark"] = benchmark(t)
	return all
}

// simulated writes the record of a case of the corpus.
func simulated(t testing.TB, name string) string {
	t.Helper()
	cases := corpus.Cases()
	c := &cases[slices.IndexFunc(cases, func(c corpus.Case) bool { return c.Name == name })]
	dir := filepath.Join(t.TempDir(), "record")
	if err := c.Write(dir, 1); err != nil {
		t.Fatal(err)
	}
	shorten(t, dir)
	return dir
}

// mostLines is how many lines of a file are kept, so that a derivation takes milliseconds:
// the record is then one of a run that was killed.
const mostLines = 120

func shorten(t testing.TB, dir string) {
	t.Helper()
	for _, file := range []string{record.FramesFile, record.WindowsFile, record.SlowFile} {
		path := filepath.Join(dir, file)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(data, []byte("\n"))
		if err := os.WriteFile(path, bytes.Join(lines[:min(len(lines), mostLines)], nil), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// serve makes a record one of a server in several settings, with a second part.
func serve(t testing.TB, dir string, labels []string) {
	t.Helper()
	path := filepath.Join(dir, record.RunFile)
	var run record.Run
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &run)
	}
	if err != nil {
		t.Fatal(err)
	}
	server := &experiment.Server{Name: "the server"}
	for i, label := range labels {
		server.Settings = append(server.Settings, experiment.Setup{Service: string(rune('a' + i)), Label: label})
	}
	run.Experiment.Server = server
	run.Experiment.Measure.Common = &experiment.Common{Percent: 70, Warmup: time.Second, Duration: 4 * time.Second, Repeats: 6}
	if data, err = json.Marshal(run); err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// benchmark writes a record of a service that measures itself.
func benchmark(t testing.TB) string {
	t.Helper()
	e := &experiment.Experiment{Name: "self", Measure: experiment.Measure{Repeats: 2, Duration: time.Minute, Interval: time.Second}}
	for i, name := range []string{"a", "b"} {
		e.Cells = append(e.Cells, experiment.Cell{Index: i, Service: experiment.Service{Name: name}, Load: experiment.Load{Benchmark: true}})
	}
	dir := filepath.Join(t.TempDir(), "record")
	w, err := record.Create(dir, record.Run{Version: record.Version, Experiment: e, Platform: "local", Plan: e.Plan(1), Started: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	var errs []error
	for i, planned := range e.Plan(1) {
		line := record.Trial{Trial: i + 1, Cell: planned.Cell, Repeat: planned.Repeat, Outcome: record.Done}
		errs = append(errs, w.Trial(line), w.Benchmark(&record.Benchmark{Trial: i + 1, Cell: planned.Cell, Name: "Sort/n=10", Procs: 2,
			Iterations: 500, Values: []record.BenchmarkValue{{Value: 1.25e-6, Unit: "sec/op"}, {Value: 16, Unit: "B/op"}}}))
	}
	if err := errors.Join(append(errs, w.Finish(time.Unix(9, 0)), w.Close())...); err != nil {
		t.Fatal(err)
	}
	return dir
}

// replacements take the place of each value. remove takes it away.
var (
	remove       = &struct{ removed bool }{}
	replacements = []any{
		remove, nil, json.Number("-1"), json.Number("0"), json.Number("1"), json.Number("1.5"), json.Number("999999999"),
		json.Number("1000000000000000000"), json.Number("-9223372036854775808"), json.Number("1e15"), json.Number("1e300"),
		"", "x", true, []any{}, map[string]any{}, []any{nil, nil},
	}
)

// place is where a value stands: the keys and the indexes that lead to it.
type place []any

func (p place) String() string {
	var b strings.Builder
	for _, step := range p {
		fmt.Fprintf(&b, "/%v", step)
	}
	return b.String()
}

// places are those of all values in a document, of arrays of the first two and the last.
func places(v any, at place) (all []place) {
	add := func(step, of any) {
		next := append(slices.Clone(at), step)
		all = append(append(all, next), places(of, next)...)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			add(key, v[key])
		}
	case []any:
		for i := range v {
			if i < 2 || i == len(v)-1 {
				add(i, v[i])
			}
		}
	}
	return all
}

// replaced is a document with another value at a place.
func replaced(data []byte, at place, with any) []byte {
	root := parse(data)
	v := root
	for _, step := range at[:len(at)-1] {
		if key, ok := step.(string); ok {
			v = v.(map[string]any)[key]
		} else {
			v = v.([]any)[step.(int)]
		}
	}
	switch last := at[len(at)-1].(type) {
	case string:
		if of := v.(map[string]any); with == any(remove) {
			delete(of, last)
		} else {
			of[last] = with
		}
	case int:
		if with == any(remove) {
			with = nil // what it is to be without an element is tried at the array itself
		}
		v.([]any)[last] = with
	}
	out, err := json.Marshal(root)
	if err != nil {
		panic(err)
	}
	return out
}

func parse(data []byte) any {
	var root any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&root); err != nil {
		panic(err)
	}
	return root
}

// kinds are the lines that stand for all of a file: of each set of keys the first, and the
// last one.
func kinds(lines [][]byte) []int {
	seen := map[string]bool{}
	var all []int
	for i, line := range lines {
		if len(line) == 0 {
			continue
		}
		var keys map[string]json.RawMessage
		if json.Unmarshal(line, &keys) != nil {
			continue
		}
		kind := strings.Join(slices.Sorted(maps.Keys(keys)), " ") + string(keys["phase"]) + string(keys["stage"])
		if !seen[kind] {
			seen[kind] = true
			all = append(all, i)
		}
	}
	return all
}

// Each value of a record is removed and replaced, one at a time, and everything that is
// shown of the record is derived.
func TestNoForeignRecordEndsInAPanic(t *testing.T) {
	every := testkit.Samples(1000, 200, 1) // changes are tried of so many
	for name, dir := range sources(t) {
		t.Run(name, func(t *testing.T) {
			if err := show(dir); err != nil && !strings.Contains(err.Error(), "has no cell") {
				t.Fatalf("the record itself: %v", err)
			}
			n := 0
			for _, part := range []string{"", record.CommonDir} {
				for _, file := range []string{record.RunFile, record.TrialsFile, record.FramesFile, record.WindowsFile, record.SlowFile, record.StepsFile, record.BenchmarksFile} {
					path := filepath.Join(dir, part, file)
					data, err := os.ReadFile(path)
					if errors.Is(err, os.ErrNotExist) {
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					lines := [][]byte{data}
					if file != record.RunFile {
						lines = bytes.Split(data, []byte("\n"))
					}
					for _, i := range kinds(lines) {
						for _, at := range places(parse(lines[i]), nil) {
							for _, with := range replacements {
								if n++; n%every != 0 {
									continue
								}
								changed := slices.Clone(lines)
								changed[i] = replaced(lines[i], at, with)
								if err := os.WriteFile(path, bytes.Join(changed, []byte("\n")), 0o600); err != nil {
									t.Fatal(err)
								}
								survives(t, dir, fmt.Sprintf("%s, line %d: %s is %v", filepath.Join(part, file), i+1, at, with))
							}
						}
					}
					if err := os.WriteFile(path, data, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			t.Logf("%d changes, of which one in %d was tried", n, every)
		})
	}
}

// The two records of issue 22 that ended in a panic, and others that did.
func TestForeignRecordsThatEndedInAPanic(t *testing.T) {
	dirs := sources(t)
	for _, c := range []struct {
		name, source, file string
		change             func(data []byte) []byte
	}{
		{"a searched cell without its rate", "dependency-reported", record.RunFile, func(data []byte) []byte {
			return replaced(data, place{"experiment", "cells", 0, "load", "rate"}, remove)
		}},
		{"a step whose window ends before it begins", "dependency-reported", record.StepsFile, func(data []byte) []byte {
			first, rest, _ := bytes.Cut(data, []byte("\n"))
			first = replaced(replaced(first, place{"first"}, json.Number("5")), place{"last"}, json.Number("-1"))
			return slices.Concat(first, []byte("\n"), rest)
		}},
		{"a step without its load", "dependency-reported", record.StepsFile, func(data []byte) []byte {
			first, rest, _ := bytes.Cut(data, []byte("\n"))
			return slices.Concat(replaced(first, place{"load"}, nil), []byte("\n"), rest)
		}},
		{"a slow request of a replica that does not exist", "dependency-reported", record.SlowFile, func(data []byte) []byte {
			first, rest, _ := bytes.Cut(data, []byte("\n"))
			return slices.Concat(replaced(first, place{"replica"}, json.Number("999999999")), []byte("\n"), rest)
		}},
		{"a server without settings", "try-searches", record.RunFile, func(data []byte) []byte {
			return replaced(data, place{"experiment", "server", "settings"}, []any{})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(dirs[c.source], c.file)
			data, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, c.change(data), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			survives(t, dirs[c.source], c.name)
			if err := os.WriteFile(path, data, 0o600); err != nil { // for the next case
				t.Fatal(err)
			}
		})
	}
}

// FuzzShow derives everything that is shown of a record with these files.
func FuzzShow(f *testing.F) {
	for _, dir := range sources(f) {
		var files [4][]byte
		for i, name := range fuzzed {
			files[i], _ = os.ReadFile(filepath.Join(dir, name))
		}
		f.Add(files[0], files[1], files[2], files[3])
	}
	f.Fuzz(func(t *testing.T, run, trials, frames, steps []byte) {
		dir := t.TempDir()
		for i, data := range [][]byte{run, trials, frames, steps} {
			if err := os.WriteFile(filepath.Join(dir, fuzzed[i]), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_ = show(dir)
	})
}

var fuzzed = [4]string{record.RunFile, record.TrialsFile, record.FramesFile, record.StepsFile}
