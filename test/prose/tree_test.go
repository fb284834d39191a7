package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The list of packages in docs/architecture.md names every package below internal and
// cmd, and nothing that does not exist.
func TestArchitectureNamesThePackagesOfTheTree(t *testing.T) {
	const root = "../.."
	listed := listedPackages(t, filepath.Join(root, "docs/architecture.md"))
	packages := map[string]bool{}
	for _, top := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() && entry.Name() == "testdata" {
				return filepath.SkipDir
			}
			if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				folder, err := filepath.Rel(root, filepath.Dir(path))
				if err != nil {
					return err
				}
				packages[strings.TrimPrefix(folder, "internal/")] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if !listed[name] {
			t.Errorf("docs/architecture.md does not list the package %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil && !packages[name] {
			t.Errorf("docs/architecture.md lists %s, which does not exist", name)
		}
	}
}

var quoted = regexp.MustCompile("`([^`]+)`")

// listedPackages are the names in the first column of the page's table of packages.
func listedPackages(t *testing.T, page string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Packages\n")
	if !found {
		t.Fatalf("%s has no section Packages", page)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	names := map[string]bool{}
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		for _, match := range quoted.FindAllStringSubmatch(strings.Split(line, "|")[1], -1) {
			names[match[1]] = true
		}
	}
	return names
}
