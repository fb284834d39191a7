// Package spelling finds the nearest of some known names to a misspelt one, for
// messages such as "did you mean". It knows no names of its own.
package spelling

import (
	"fmt"
	"strings"
)

// Nearest is the valid word that was probably meant, or "": the one with the
// fewest edits, no more than a third of the longer word's letters. The only one
// that begins with the word is nearer than one with two edits.
func Nearest(word string, valid []string) string {
	best, fewest := "", -1
	for _, v := range valid {
		edits := distance(word, v)
		if edits*3 > max(len(word), len(v)) && (edits != 1 || len(word) == 1) {
			continue
		}
		if fewest < 0 || edits < fewest {
			best, fewest = v, edits
		}
	}
	if begun := beginWith(word, valid); (fewest < 0 || fewest > 1) && len(word) >= 3 && len(begun) == 1 {
		return begun[0]
	}
	return best
}

func beginWith(word string, valid []string) []string {
	var all []string
	for _, v := range valid {
		if strings.HasPrefix(v, strings.ToLower(word)) {
			all = append(all, v)
		}
	}
	return all
}

// distance is the number of letters to insert, drop, replace, or swap with
// their neighbour (optimal string alignment), after lowering the case: a word
// that differs in case alone has distance 0.
func distance(a, b string) int {
	s, t := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	var before []int
	last := make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row := make([]int, len(t)+1)
		row[0] = i
		for j := 1; j <= len(t); j++ {
			replaced := last[j-1]
			if s[i-1] != t[j-1] {
				replaced++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replaced)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(t)]
}

// Hint is the end of an error about an unknown word: the nearest valid one, or
// all of them.
func Hint(word, plural string, valid []string) string {
	if near := Nearest(word, valid); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(valid) == 0 {
		return "there are no " + plural
	}
	return plural + ": " + strings.Join(valid, ", ")
}
