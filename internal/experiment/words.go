package experiment

import (
	"fmt"
	"strings"
	"time"
)

// nearest is the valid word that was probably meant, or "": the one with the
// fewest edits, no more than a third of the longer word's letters. The only one
// that begins with the word is nearer than one with two edits.
func nearest(word string, valid []string) string {
	best, fewest := "", -1
	for _, v := range valid {
		edits := distance(word, v)
		if edits*3 > max(len(word), len(v)) && !(edits == 1 && len(word) > 1) {
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

// hint is the end of an error about an unknown word: the nearest valid one, or
// all of them.
func hint(word, plural string, valid []string) string {
	if near := nearest(word, valid); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(valid) == 0 {
		return "there are no " + plural
	}
	return plural + ": " + strings.Join(valid, ", ")
}

// short is a duration without the zeros at its end: "2m", not "2m0s".
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// choice lists words as in "a, b or c".
func choice(words []string) string { return enumerate(words, "or") }

func enumerate(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	end := len(words) - 1
	return strings.Join(words[:end], ", ") + " " + last + " " + words[end]
}
