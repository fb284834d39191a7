// Package experiments holds the experiments that ship with Millicore. They are run by
// their names: millicore run quick. It does not parse them; package experiment/file
// does.
package experiments

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

// Files are the experiments, each NAME.yaml with the name NAME.
//
//go:embed *.yaml
var Files embed.FS

// Text returns the text of the experiment with a name.
func Text(name string) ([]byte, error) {
	text, err := Files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("experiment %q: no such file, and no experiment with this name ships; available: %s", name, strings.Join(Names(), ", "))
	}
	return text, nil
}

// Names are the sorted names of the experiments.
func Names() []string {
	files, err := Files.ReadDir(".")
	if err != nil {
		panic(err) // the files are part of the program
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".yaml"))
	}
	slices.Sort(names) // the names of files sort otherwise: - stands before .
	return names
}
