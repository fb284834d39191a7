package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/stats"
)

// counted is how often a statement was made, and how often falsely, or not at all.
type counted struct {
	n, wrong    int
	of, records map[string]int // by kind: the false ones, and all
}

// print writes two tables. The first has how often each statement was made, how often
// falsely, and the kinds of the false ones; the second how often something was stated.
func print(w io.Writer, all []said) {
	counts, records := map[string]*counted{}, map[string]int{}
	for _, s := range all {
		if way, ok := strings.CutPrefix(s.What, whole); ok {
			records[way]++
			continue
		}
		c := counts[s.What]
		if c == nil {
			c = &counted{of: map[string]int{}, records: map[string]int{}}
			counts[s.What] = c
		}
		c.n++
		c.records[s.Kind]++
		if s.False {
			c.wrong++
			c.of[s.Kind]++
		}
	}
	fmt.Fprintln(w, "records:", records)
	fmt.Fprint(w, "\n| statement | made | false | 95% interval | false of the kinds |\n|---|---|---|---|---|\n")
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		if c := counts[what]; !strings.HasPrefix(what, silence) {
			fmt.Fprintf(w, "| %s | %d | %s | %s |\n", what, c.n, share(c.wrong, c.n), c.kinds())
		}
	}
	fmt.Fprint(w, "\n| what is stated | records | stated | 95% interval | silent for the kinds |\n|---|---|---|---|---|\n")
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		if name, ok := strings.CutPrefix(what, silence); ok {
			c := counts[what]
			fmt.Fprintf(w, "| %s | %d | %s | %s |\n", name, c.n, share(c.n-c.wrong, c.n), c.kinds())
		}
	}
}

// share writes a number of records as a column with their share, and its 95% interval.
func share(k, n int) string {
	low, high := stats.Proportion(float64(k), float64(n))
	return fmt.Sprintf("%d: %.1f%% | %.1f to %.1f%%", k, 100*float64(k)/float64(n), 100*low, 100*high)
}

// kinds names those of the false ones: "pareto 3 of 20".
func (c *counted) kinds() string {
	var all []string
	for _, k := range slices.SortedFunc(maps.Keys(c.of), func(a, b string) int { return c.of[b] - c.of[a] }) {
		all = append(all, fmt.Sprintf("%s %d of %d", k, c.of[k], c.records[k]))
	}
	return strings.Join(all, ", ")
}
