package file_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
)

func FuzzParse(f *testing.F) {
	_, bad := badExperiments(f)
	for _, b := range bad {
		f.Add(b.yaml, strings.Join(b.sets, "\n"))
	}
	for _, text := range []string{everything, least, settable, searching, ramping, claiming, measuring} {
		f.Add([]byte(text), "limits.cpu=250m")
	}
	schema := compiledSchema(f)
	f.Fuzz(func(t *testing.T, data []byte, set string) {
		var sets []string
		if set != "" {
			sets = strings.Split(set, "\n")
		}
		e, err := file.Parse("fuzz.yaml", data, sets)
		if err != nil {
			checkErrors(t, err, string(data))
			return
		}
		checkExperiment(t, e)
		if value, err := asJSON(data); err == nil && len(sets) == 0 {
			if err := schema.Validate(value); err != nil {
				t.Errorf("the schema refuses what Parse accepts: %v", err)
			}
		}
	})
}

// checkErrors wants each error to have words and a place in the text.
func checkErrors(t *testing.T, err error, text string) {
	var all file.Errors
	if !errors.As(err, &all) || len(all) == 0 {
		t.Fatalf("want file.Errors, got %T: %v", err, err)
	}
	lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 1
	for _, e := range all {
		switch {
		case e.Message == "":
			t.Errorf("an error without words: %v", e)
		case strings.HasPrefix(e.File, "--set ") && e.Line == 0 && e.Column == 0:
		case e.File != "fuzz.yaml" || e.Line < 1 || e.Line > lines+1 || e.Column < 1:
			t.Errorf("an error at no place of the file: %v", e)
		}
	}
}

// checkExperiment wants what others rely on without looking.
func checkExperiment(t *testing.T, e *experiment.Experiment) {
	if len(e.Cells) == 0 || len(e.Cells) > 1000 || len(e.Cells)*e.Measure.Repeats > 10_000 {
		t.Fatalf("%d cells, %d repeats", len(e.Cells), e.Measure.Repeats)
	}
	for i := range e.Cells {
		c := &e.Cells[i]
		s := &c.Service
		ways := 0
		for _, given := range []bool{s.Workload != "", len(s.Command) > 0, s.Image != ""} {
			if given {
				ways++
			}
		}
		if c.Index != i || s.Name == "" || ways != 1 {
			t.Errorf("cell %d cannot be started: %+v", i, s)
		}
		if c.Load.Benchmark {
			checkBenchmark(t, e, c)
			continue
		}
		if (c.Load.Users == nil) == (c.Load.Rate == nil) || c.Load.Target().Highest() <= 0 {
			t.Errorf("cell %d has no load: %+v", i, c.Load)
		}
		if (s.Port != 0 || s.FindPort) && (c.Limits.Replicas > 1 || s.Workload != "" || s.Port < 0 || s.Port != 0 && s.FindPort) {
			t.Errorf("cell %d cannot have its port: %+v", i, s)
		}
		if c.Load.Agents < 1 || c.Load.Threads < 1 || c.Load.Timeout <= 0 || c.Limits.Replicas < 1 || c.Limits.Period <= 0 {
			t.Errorf("cell %d lacks a default: %+v, %+v", i, c.Limits, c.Load)
		}
		if a := s.Autoscale; a != nil && (a.Min < 1 || a.Max <= a.Min || a.Max > 100 || a.CPUPercent < 1 || c.Limits.Replicas != a.Min || c.Load.Find) {
			t.Errorf("cell %d cannot be scaled: %+v, %+v", i, a, c.Limits)
		}
		if c.Load.Request.Method == "" || !strings.HasPrefix(c.Load.Request.Path, "/") {
			t.Errorf("cell %d has no request: %+v", i, c.Load.Request)
		}
		if c.Load.Find && (len(c.Load.Target().Stages) > 0 || c.Load.Requests > 0 || e.Objective == nil || e.Measure.Duration < 10*time.Second) {
			t.Errorf("cell %d cannot be searched: %+v, %+v", i, c.Load, e.Measure)
		}
		if c.Load.Requests == 0 && !c.Load.Find && e.Measure.Measured(c) <= 0 {
			t.Errorf("cell %d has no end", i)
		}
	}
}
