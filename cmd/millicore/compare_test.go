package main

import (
	"path/filepath"
	"testing"

	"github.com/millicore/millicore/internal/base/exit"
)

func TestCompareTellsWrongWordsFromFailures(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	for _, c := range []struct {
		name string
		args []string
		want int
	}{
		{"one record", []string{nowhere}, exit.Usage},
		{"three records", []string{nowhere, nowhere, nowhere}, exit.Usage},
		{"a form that is not known", []string{nowhere, nowhere, "--format", "xml"}, exit.Usage},
		{"two forms", []string{nowhere, nowhere, "--format", "csv", "--json"}, exit.Usage},
		{"a bound without its sign", []string{nowhere, nowhere, "--fail-on", "p99>10%"}, exit.Usage},
		{"a bound on one record", []string{nowhere, "--format", "benchstat", "--fail-on", "p99>+10%"}, exit.Usage},
		{"--strict without a bound", []string{nowhere, nowhere, "--strict"}, exit.Usage},
		{"no such record", []string{nowhere, nowhere}, exit.Failed},
		{"no such record, as benchmarks", []string{nowhere, "--format", "benchstat"}, exit.Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := run(append([]string{"compare"}, c.args...)); got != c.want {
				t.Errorf("ended with %d, want %d", got, c.want)
			}
		})
	}
}
