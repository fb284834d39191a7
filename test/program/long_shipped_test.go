package program

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/experiments"
)

// Every experiment that ships runs, in a short form.
func TestTheOtherShippedExperiments(t *testing.T) {
	names, err := fs.Glob(experiments.Files, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range names {
		name := strings.TrimSuffix(file, ".yaml")
		if !slices.Contains(oneOfEachKind, name) {
			t.Run(name, func(t *testing.T) { shippedExperimentRuns(t, name) })
		}
	}
}
