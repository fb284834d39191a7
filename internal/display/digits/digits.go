// Package digits groups the digits of numbers. It has no dependencies, so that packages
// that only compute can write their numbers as package display does.
package digits

import "strings"

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
