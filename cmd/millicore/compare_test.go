package main

import (
	"path/filepath"
	"testing"
)

func TestCompareTellsWrongWordsFromFailures(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	for _, c := range []struct {
		name string
		args []string
		want int
	}{
		{"one record", []string{nowhere}, exitUsage},
		{"three records", []string{nowhere, nowhere, nowhere}, exitUsage},
		{"a form that is not known", []string{nowhere, nowhere, "--format", "xml"}, exitUsage},
		{"two forms", []string{nowhere, nowhere, "--format", "csv", "--json"}, exitUsage},
		{"a bound without its sign", []string{nowhere, nowhere, "--fail-on", "p99>10%"}, exitUsage},
		{"a bound on one record", []string{nowhere, "--format", "benchstat", "--fail-on", "p99>+10%"}, exitUsage},
		{"--strict without a bound", []string{nowhere, nowhere, "--strict"}, exitUsage},
		{"no such record", []string{nowhere, nowhere}, exitFailed},
		{"no such record, as benchmarks", []string{nowhere, "--format", "benchstat"}, exitFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := run(append([]string{"compare"}, c.args...)); got != c.want {
				t.Errorf("ended with %d, want %d", got, c.want)
			}
		})
	}
}
