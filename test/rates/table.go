package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/stats"
)

// print writes the table: how often each statement was made, and how often falsely. Below it
// are the kinds that have the false ones.
func print(w io.Writer, all []said) {
	type count struct {
		n, wrong int
		of       map[string]int
		records  map[string]int
	}
	counts := map[string]*count{}
	for _, s := range all {
		c := counts[s.What]
		if c == nil {
			c = &count{of: map[string]int{}, records: map[string]int{}}
			counts[s.What] = c
		}
		c.n++
		c.records[s.Kind]++
		if s.False {
			c.wrong++
			c.of[s.Kind]++
		}
	}
	fmt.Fprint(w, "| statement | records | false | rate, 95% interval | kinds of the false ones |\n|---|---|---|---|---|\n")
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		c := counts[what]
		low, high := stats.Proportion(float64(c.wrong), float64(c.n))
		var of []string
		for _, k := range slices.SortedFunc(maps.Keys(c.of), func(a, b string) int { return c.of[b] - c.of[a] }) {
			of = append(of, fmt.Sprintf("%s %d of %d", k, c.of[k], c.records[k]))
		}
		fmt.Fprintf(w, "| %s | %d | %d | %.1f%% (%.1f to %.1f) | %s |\n", what, c.n, c.wrong, 100*float64(c.wrong)/float64(c.n), 100*low, 100*high, strings.Join(of, ", "))
	}
}
