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

// row has a statement about steady services, and by group about the others.
type row struct {
	steady *counted
	others map[string]*counted
}

// print writes two tables. The first has how often each statement was made about steady
// services, how often falsely, and the same of the others; the second how often something was
// stated. With the kinds of the false ones, if all texts are kept.
func print(w io.Writer, all []said) {
	rows, records := map[string]*row{}, map[string]int{}
	for _, s := range all {
		if way, ok := strings.CutPrefix(s.What, whole); ok {
			records[way]++
			continue
		}
		what, group := grouped(s.What)
		r := rows[what]
		if r == nil {
			r = &row{newCounted(), map[string]*counted{}}
			rows[what] = r
		}
		c := r.steady
		if group != "" {
			if r.others[group] == nil {
				r.others[group] = newCounted()
			}
			c = r.others[group]
		}
		c.add(s)
	}
	fmt.Fprintln(w, "records:", records)
	fmt.Fprint(w, "\n| statement | made | false | 95% interval | false of others |\n|---|---|---|---|---|\n")
	for _, what := range slices.Sorted(maps.Keys(rows)) {
		if r := rows[what]; !strings.HasPrefix(what, silence) {
			fmt.Fprintf(w, "| %s | %s | %s |\n", what, r.steady.share(r.steady.wrong), r.of(func(c *counted) int { return c.wrong }))
		}
	}
	fmt.Fprint(w, "\n| what is stated | records | stated | 95% interval | of others |\n|---|---|---|---|---|\n")
	for _, what := range slices.Sorted(maps.Keys(rows)) {
		if name, ok := strings.CutPrefix(what, silence); ok {
			r := rows[what]
			fmt.Fprintf(w, "| %s | %s | %s |\n", name, r.steady.share(r.steady.n-r.steady.wrong), r.of(func(c *counted) int { return c.n - c.wrong }))
		}
	}
}

// grouped divides a statement into itself and the group of kinds that it is about.
func grouped(what string) (statement, group string) {
	for _, k := range kinds {
		if name, ok := strings.CutSuffix(what, k.in("")); ok && k.group != "" {
			return name, k.group
		}
	}
	return what, ""
}

func newCounted() *counted { return &counted{of: map[string]int{}, records: map[string]int{}} }

func (c *counted) add(s said) {
	c.n++
	c.records[s.Kind]++
	if s.False {
		c.wrong++
		c.of[s.Kind]++
	}
}

// share writes columns: all, how many of them with their share, and its 95% interval.
func (c *counted) share(k int) string {
	if c.n == 0 {
		return "0 | |"
	}
	low, high := stats.Proportion(float64(k), float64(c.n))
	text := fmt.Sprintf("%d | %d: %.1f%% | %.1f to %.1f%%", c.n, k, 100*float64(k)/float64(c.n), 100*low, 100*high)
	if verbose {
		text += " " + c.kinds()
	}
	return text
}

// of has how many of each group: "pauses 5 of 6".
func (r *row) of(many func(*counted) int) string {
	var all []string
	for _, k := range kinds {
		if c := r.others[k.group]; c != nil {
			all = append(all, fmt.Sprintf("%s %d of %d", k.group, many(c), c.n))
		}
	}
	return strings.Join(all, "; ")
}

// kinds names those of the false ones: "pareto 3 of 20".
func (c *counted) kinds() string {
	var all []string
	for _, k := range slices.SortedFunc(maps.Keys(c.of), func(a, b string) int { return c.of[b] - c.of[a] }) {
		all = append(all, fmt.Sprintf("%s %d of %d", k, c.of[k], c.records[k]))
	}
	return strings.Join(all, ", ")
}
