package file

import "strings"

// choice lists words as in "a, b or c".
func choice(words []string) string { return enumerate(words, "or") }

func enumerate(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	end := len(words) - 1
	return strings.Join(words[:end], ", ") + " " + last + " " + words[end]
}
