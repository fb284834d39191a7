package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/millicore/millicore/internal/base/exit"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/test/corpus"
)

// evil is what hostile text has in it: a title and a colour, once with the C1 form of the
// escape, a line that is written over, an override of the direction, and a deletion.
const evil = "\x1b]0;title\a\x1b[31m\u009b31m over\r\u202eright\u2066\x7f\b\u2028"

// obeyed are the characters of an output that a terminal could obey.
func obeyed(output string) (all []string) {
	for i, r := range output {
		_, size := utf8.DecodeRuneInString(output[i:])
		switch {
		case r == '\n', r == '\t':
		case r == utf8.RuneError && size == 1, unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			line := output[strings.LastIndexByte(output[:i], '\n')+1:]
			line, _, _ = strings.Cut(line, "\n")
			all = append(all, strings.ToValidUTF8(strings.Trim(string([]rune(line)), "\n"), "?"))
		}
	}
	return all
}

// outputOf runs the command line and returns its exit code, and both of its outputs.
func outputOf(t *testing.T, args ...string) (int, string) {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "output")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	out, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = file, file
	defer func() { os.Stdout, os.Stderr = out, stderr }()
	code := run(args)
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return code, string(text)
}

// poisoned is a value of JSON with evil at the end of each string, but of those that a
// reader parses.
func poisoned(v any, key string) any {
	parsed := []string{"started", "quantile", "method", "source", "phase", "outcome", "kind", "stage", "latency", "service", "send_lag", "metric"}
	switch v := v.(type) {
	case string:
		if v != "" && !slices.Contains(parsed, key) {
			return v + evil
		}
	case []any:
		for i := range v {
			v[i] = poisoned(v[i], key)
		}
	case map[string]any:
		for k := range v {
			if k == "service" && key == "cells" { // the service itself, not a histogram
				v[k] = poisoned(v[k], "")
				continue
			}
			v[k] = poisoned(v[k], k)
		}
	}
	return v
}

func poison(t *testing.T, path string, lines bool) {
	t.Helper()
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	texts := [][]byte{data}
	if lines {
		texts = bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	}
	for i, text := range texts {
		if len(text) == 0 {
			continue
		}
		var v any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if texts[i], err = json.Marshal(poisoned(v, "")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, append(bytes.Join(texts, []byte("\n")), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
}

// hostile writes the record of a case with hostile text, in a folder with a hostile name.
func hostile(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "record\x1b[31m\u202e")
	cases := corpus.Cases()
	c := &cases[slices.IndexFunc(cases, func(c corpus.Case) bool { return c.Name == name })]
	if err := c.Write(dir, 1); err != nil {
		t.Fatal(err)
	}
	poison(t, filepath.Join(dir, record.RunFile), false)
	for _, file := range []string{record.TrialsFile, record.FramesFile, record.WindowsFile, record.SlowFile, record.StepsFile} {
		poison(t, filepath.Join(dir, file), true)
	}
	return dir
}

func TestAHostileRecordWritesNothingThatATerminalObeys(t *testing.T) {
	constant, search, dead := hostile(t, "two-identical"), hostile(t, "dependency-reported"), hostile(t, "refuses-most")
	invalid := filepath.Join(t.TempDir(), "invalid\x1b[31m")
	if err := errors.Join(os.Mkdir(invalid, 0o700), os.WriteFile(filepath.Join(invalid, record.RunFile), []byte(`{"experiment":{"name":5,"\u001b[31m":1,"cells":[]}}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]string{
		{"report", constant}, {"report", constant, "--json"}, {"report", constant, "--csv"}, {"report", constant, "--markdown"},
		{"report", search}, {"report", search, "--json"}, {"report", search, "--csv"}, {"report", search, "--markdown"},
		{"report", dead}, {"report", dead, "--markdown"},
		{"report", invalid}, {"report", invalid + "-none"}, {"report\x1b[31m"}, {"report", "--\x1b[31m"},
		{"compare", constant + "#0", constant + "#1"}, {"compare", constant + "#0", constant + "#1", "--json"},
		{"compare", constant + "#0", constant + "#1", "--format", "markdown"}, {"compare", constant + "#0", constant + "#1", "--format", "csv"},
		{"compare", constant + "#0", constant + "#1", "--format", "benchstat"}, {"compare", constant, "--format", "benchstat"},
		{"compare", constant, search}, {"compare", constant, search, "--anyway"}, {"compare", constant + "#x\x1b[31m", search},
		{"run", "none\x1b[31m"}, {"run", filepath.Join(invalid, record.RunFile), "--dry-run"}, {"load", "http://\x1b[31m/"},
	} {
		code, output := outputOf(t, c...)
		if code == exit.Interrupted || output == "" {
			t.Errorf("%q ended with %d and %q", c, code, output)
		}
		if bad := obeyed(output); len(bad) > 0 {
			t.Errorf("%q: %d characters, the first in %q", c, len(bad), bad[0])
		}
	}
}

func TestAReadOnlyRecordIsShownAndAFailedWriteIsAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "record")
	cases := corpus.Cases()
	if err := cases[slices.IndexFunc(cases, func(c corpus.Case) bool { return c.Name == "two-identical" })].Write(dir, 1); err != nil {
		t.Fatal(err)
	}
	// A folder that is not empty cannot be replaced by the report: an error of any user.
	if err := os.MkdirAll(filepath.Join(dir, record.ReportFile, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	code, output := outputOf(t, "report", dir)
	if code != exit.Failed || !strings.Contains(output, "were not written") || !strings.Contains(output, "p99") {
		t.Errorf("ended with %d:\n%s", code, output)
	}
}

func TestARunWhoseReportCannotBeWrittenFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "record")
	cases := corpus.Cases()
	if err := cases[slices.IndexFunc(cases, func(c corpus.Case) bool { return c.Name == "two-identical" })].Write(dir, 1); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, record.SummaryFile, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := reportCommand()
	c.SetOut(io.Discard)
	err := showAfter(nil, c, dir, output{})
	if !errors.As(err, new(*unwritten)) || errors.Is(err, errMissed) {
		t.Errorf("%v, want that the report was not written", err)
	}
}
