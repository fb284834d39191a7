package facts

import "regexp"

var (
	timesOf     = regexp.MustCompile(`^(.+) \(([\d,.]+)\)`)
	firstFigure = regexp.MustCompile(`[\d,]*\d(?:\.\d+)?`)
	subjectName = regexp.MustCompile(`^.+?( breaks| holds)`)
	pointOf     = regexp.MustCompile(`^([\d,.]*\d)(?: \(([\d,.]+)–([\d,.]+)\))?`)
)

// splitFigures parts "194 (183–228) and 193 (177–226)"; figures have commas within.
func splitFigures(text string) (all []string) {
	depth, from := 0, 0
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '(':
			depth++
		case text[i] == ')':
			depth--
		case depth == 0 && (i+2 <= len(text) && text[i:i+2] == ", "):
			all = append(all, text[from:i])
			from = i + 2
		case depth == 0 && i+5 <= len(text) && text[i:i+5] == " and ":
			all = append(all, text[from:i])
			from = i + 5
		}
	}
	return append(all, text[from:])
}
