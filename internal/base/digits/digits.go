// Package digits writes numbers. It has no dependencies, so that packages
// that only compute can write their numbers as package display does.
package digits

import (
	"math"
	"strconv"
	"strings"
)

// Grouped sets a comma between the thousands of a number that is not negative:
// "2500000.5" becomes "2,500,000.5".
func Grouped(number string) string {
	whole, rest, point := strings.Cut(number, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if point {
		return whole + "." + rest
	}
	return whole
}

// Significant writes a number with that many significant digits at most, all digits of its
// whole part, no zeros at its end, and never an exponent: 0.05, 12.3, 49,740.
func Significant(v float64, most int) string {
	decimals := most
	if v != 0 {
		decimals = max(0, most-1-int(math.Floor(math.Log10(math.Abs(v)))))
	}
	text := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if v < 0 && text != "0" {
		return "-" + Grouped(text)
	}
	return Grouped(text)
}

// Exact writes a number with all of its digits, and never an exponent: 2,500.5.
func Exact(load float64) string {
	return Grouped(strconv.FormatFloat(load, 'f', -1, 64))
}

// Three writes a number with three significant digits.
func Three(v float64) string { return Significant(v, 3) }
