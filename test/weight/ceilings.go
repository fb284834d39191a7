package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// most bounds the lines of a package without a ceiling of its own.
const most = 3000

// slack is how far a package may stay below its ceiling before the ceiling must fall.
const slack = 150

// ceiling bounds a package that was above the common bounds when they began.
type ceiling struct {
	lines, prose int
}

// parseCeilings reads lines such as "lines analysis 4600" and "prose analysis 90".
func parseCeilings(text []byte) (map[string]ceiling, error) {
	all := map[string]ceiling{}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var what, name string
		var n int
		if _, err := fmt.Sscanf(line, "%s %s %d", &what, &name, &n); err != nil || what != "lines" && what != "prose" {
			return nil, fmt.Errorf("ceilings.txt:%d: %q is not \"lines PACKAGE N\" or \"prose PACKAGE N\"", i+1, line)
		}
		c, seen := all[name]
		if !seen {
			c.lines = most
		}
		if what == "lines" {
			c.lines = n
		} else {
			c.prose = n
		}
		all[name] = c
	}
	return all, nil
}

// heavy returns what is above a bound, and the ceilings that must fall.
func (t tree) heavy(ceilings map[string]ceiling) []string {
	var refused []string
	say := func(format string, a ...any) { refused = append(refused, fmt.Sprintf(format, a...)) }
	for _, name := range slices.Sorted(maps.Keys(t)) {
		p := t[name]
		c, own := ceilings[name]
		if !own {
			c.lines = most
		}
		if p.lines > c.lines {
			say("%s has %d lines, and may have %d: split it by subject", name, p.lines, c.lines)
		}
		if c.lines > most && p.lines < c.lines-slack {
			say("%s has %d lines: lower its ceiling of %d in test/weight/ceilings.txt", name, p.lines, c.lines)
		}
		if len(p.prose) > c.prose {
			say("%s has %d strings of four words or more, and may have %d: return a finding, and let narrative word it\n%s", name, len(p.prose), c.prose, strings.Join(p.prose, "\n"))
		}
		if len(p.prose) < c.prose {
			say("%s has %d strings of four words or more: lower its ceiling of %d in test/weight/ceilings.txt", name, len(p.prose), c.prose)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ceilings)) {
		if t[name] == nil {
			say("test/weight/ceilings.txt names %s, which does not exist", name)
		}
	}
	return refused
}

// risen reports what rose since the last commit on main, as a whole, because a package may
// get another name or be split: the ceilings of lines, from the highest to the lowest, and
// the sum of those of prose.
func risen(earlier, now map[string]ceiling) []string {
	if len(earlier) == 0 { // there were none
		return nil
	}
	before, beforeProse := total(earlier)
	after, prose := total(now)
	var refused []string
	for i, n := range after {
		if i >= len(before) || n > before[i] {
			refused = append(refused, fmt.Sprintf("%s: the ceilings of lines may only fall, and one is %d", ceilingsFile, n))
			break
		}
	}
	if prose > beforeProse {
		refused = append(refused, fmt.Sprintf("%s: the ceilings of prose may only fall, and their sum rose from %d to %d", ceilingsFile, beforeProse, prose))
	}
	return refused
}

// total returns the ceilings of lines above the common bound, the highest first, and the
// sum of those of prose.
func total(ceilings map[string]ceiling) (lines []int, prose int) {
	for _, c := range ceilings {
		if c.lines > most {
			lines = append(lines, c.lines)
		}
		prose += c.prose
	}
	slices.Sort(lines)
	slices.Reverse(lines)
	return lines, prose
}
