package display

import (
	"regexp"
	"strings"
)

// formula begins a cell that a spreadsheet would compute: OWASP's list ("CSV Injection"),
// of which Plain has replaced tabs and line ends, and the full-width forms that some
// spreadsheets take for the same.
const formula = "=+-@＝＋－＠"

// number is text that a spreadsheet takes for a number, and that runs nothing.
var number = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// SheetCell makes text of others a cell of a CSV file that a spreadsheet shows and does not
// compute: a quote comes before what looks like a formula. Numbers stay as they are. A
// program that reads the file can remove a quote before one of formula's characters.
func SheetCell(text string) string {
	text = Plain(text)
	begin := strings.TrimLeft(text, " ")
	if begin == "" || number.MatchString(begin) || !strings.ContainsRune(formula, []rune(begin)[0]) {
		return text
	}
	return "'" + text
}
