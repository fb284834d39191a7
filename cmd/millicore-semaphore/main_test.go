package main

import (
	"slices"
	"testing"
)

func TestArguments(t *testing.T) {
	for _, test := range []struct {
		name  string
		given []string
		env   map[string]string
		want  []string
	}{
		{"no arguments", nil, nil, []string{"-test.bench=."}},
		{"by the environment", nil, map[string]string{"BENCH": "Corrected", "BENCHTIME": "3x"}, []string{"-test.bench=Corrected", "-test.benchtime=3x"}},
		{"what is given stands alone", []string{"-test.list=."}, map[string]string{"BENCH": "Corrected"}, []string{"-test.list=."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := arguments(test.given, func(name string) string { return test.env[name] })
			if !slices.Equal(got, test.want) {
				t.Errorf("arguments %q, want %q", got, test.want)
			}
		})
	}
}
