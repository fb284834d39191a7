package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// floors has the number of each floor by the names that docs/architecture.md lists,
// counted from the top. A name stands for the packages below it, too.
type floors map[string]int

// parseFloors reads the block of the page's section Layers. A line is a floor: names
// between middle dots, then at least two spaces and what the floor is for.
func parseFloors(page string) (floors, error) {
	_, section, found := strings.Cut(page, "\n## Layers\n")
	_, block, opened := strings.Cut(section, "\n```\n")
	block, _, closed := strings.Cut(block, "\n```\n")
	if !found || !opened || !closed {
		return nil, errors.New("docs/architecture.md has no block in a section Layers")
	}
	all := floors{}
	for i, line := range strings.Split(block, "\n") {
		names, _, _ := strings.Cut(line, "  ")
		for name := range strings.SplitSeq(names, " · ") {
			name = strings.Trim(name, " /")
			if _, twice := all[name]; twice || name == "" {
				return nil, fmt.Errorf("docs/architecture.md, floor %d of its layers: %q stands twice, or is empty", i+1, name)
			}
			all[name] = i
		}
	}
	return all, nil
}

// of returns the floor of a package: that of the longest name above it.
func (f floors) of(name string) (floor int, known bool) {
	for {
		if floor, known = f[name]; known {
			return floor, true
		}
		cut := strings.LastIndexByte(name, '/')
		if cut < 0 {
			return 0, false
		}
		name = name[:cut]
	}
}

// upward returns the imports that run from a floor to a higher one.
func (t tree) upward(f floors) []string {
	var refused []string
	for _, name := range slices.Sorted(maps.Keys(t)) {
		from, known := f.of(name)
		if !known {
			refused = append(refused, fmt.Sprintf("%s is on no floor of docs/architecture.md", name))
			continue
		}
		for _, target := range slices.Sorted(maps.Keys(t[name].imports)) {
			if to, known := f.of(target); known && to < from {
				refused = append(refused, fmt.Sprintf("%s imports %s, which is a floor above it", name, target))
			}
		}
	}
	return refused
}
