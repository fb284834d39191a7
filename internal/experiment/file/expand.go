package file

import (
	"strings"

	"github.com/millicore/millicore/internal/experiment"
)

// expandLetters is a text without names, each $${ as the letters ${.
func expandLetters(all []experiment.Segment) string {
	var b strings.Builder
	for _, s := range all {
		b.WriteString(s.Letters)
	}
	return b.String()
}

// expandKnown replaces the names that have a value, and leaves the others and
// $${ as they are for Expand to end the work. For that no value holds ${ or
// ends in $ (see checkValue).
func expandKnown(all []experiment.Segment, values map[string]string) string {
	var b strings.Builder
	for _, s := range all {
		value, known := values[s.Name]
		switch {
		case s.Name == "":
			b.WriteString(strings.ReplaceAll(s.Letters, "${", "$${"))
		case known:
			b.WriteString(value)
		default:
			b.WriteString("${" + s.Name + "}")
		}
	}
	return b.String()
}
