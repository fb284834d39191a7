package experiment_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/millicore/millicore/experiments"
	"github.com/millicore/millicore/internal/experiment"
)

// shipped are the experiments that ship, by the names of their files.
func shipped(t *testing.T) map[string][]byte {
	t.Helper()
	names, err := fs.Glob(experiments.Files, "*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("experiments that ship: %v, %v", names, err)
	}
	all := make(map[string][]byte)
	for _, name := range names {
		data, err := experiments.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = data
	}
	return all
}

func TestShippedExperimentsAreRight(t *testing.T) {
	for name, data := range shipped(t) {
		e, err := experiment.Parse(name, data, nil)
		if err != nil {
			t.Errorf("%s:\n%v", name, err)
			continue
		}
		if e.Name != strings.TrimSuffix(name, ".yaml") {
			t.Errorf("%s has the name %q: `millicore run NAME` looks for its file", name, e.Name)
		}
		if e.About == "" {
			t.Errorf("%s does not say what it is about", name)
		}
	}
}
