package analysis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/display/digits"
)

// joinNotes joins the notes that are not empty.
func joinNotes(notes ...string) string {
	return strings.Join(slices.DeleteFunc(notes, func(note string) bool { return note == "" }), "; ")
}

// listed joins words as in "a, b and c".
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// number formats a load of an experiment file with all of its digits.
func number(load float64) string {
	return digits.Grouped(strconv.FormatFloat(load, 'f', -1, 64))
}

// plural counts things: "1 trial", "2 trials", "2 searches".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "ch") {
		what += "e"
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func threeDigits(v float64) string { return digits.Significant(v, 3) }
