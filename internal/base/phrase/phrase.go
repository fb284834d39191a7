// Package phrase joins and counts words. It has no dependencies, so that packages that
// only compute can word a figure as those that show it do.
package phrase

import (
	"fmt"
	"slices"
	"strings"
)

// List joins words for a sentence: "a", "a and b", "a, b and c".
func List(words []string) string { return list(words, " and ") }

// Choice joins words of which one applies: "a", "a or b", "a, b or c".
func Choice(words []string) string { return list(words, " or ") }

func list(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + last + words[len(words)-1]
}

// Plural counts things: "1 trial", "2 trials", "2 searches".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "ch") {
		what += "e"
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Join joins the notes that are not empty: "a; b".
func Join(notes ...string) string {
	return strings.Join(slices.DeleteFunc(notes, func(note string) bool { return note == "" }), "; ")
}

// Seconds writes a time for a sentence: "54 s", "3 min 20 s".
func Seconds(s float64) string {
	if s < 100 {
		return fmt.Sprintf("%.0f s", s)
	}
	whole := int64(s + 0.5)
	if whole%60 == 0 {
		return fmt.Sprintf("%d min", whole/60)
	}
	return fmt.Sprintf("%d min %d s", whole/60, whole%60)
}
