package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// What users run and import does not need what only tests need: no package below
// internal, cmd and maxprocs imports one below test, but in its tests.
func TestNoProgramImportsWhatTestsUse(t *testing.T) {
	const root = "../.."
	for _, top := range []string{"internal", "cmd", "maxprocs"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, spec := range file.Imports {
				if name, err := strconv.Unquote(spec.Path.Value); err != nil || strings.HasPrefix(name, "github.com/millicore/millicore/test/") {
					t.Errorf("%s imports %s", path, name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
