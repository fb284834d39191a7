package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/display"
)

// percent writes a number of percent, rounded down where that is all that
// keeps it from reading 100: 99.9996 is not "100%".
func percent(v float64) string {
	if v >= 100 {
		return "100%"
	}
	decimals := 1
	if v > 99 {
		decimals = 3
	}
	if v == 0 {
		decimals = 0
	}
	scale := math.Pow10(decimals)
	text := strconv.FormatFloat(math.Floor(v*scale+1e-6)/scale, 'f', decimals, 64)
	if decimals > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + "%"
}

// share writes a part of one as percent: whole, with a decimal below 10%, and
// never 0% or 100% for what only comes near.
func share(v float64) string {
	p := v * 100
	switch {
	case p <= 0:
		return "0%"
	case p < 0.1:
		return "<0.1%"
	case p < 9.95:
		return strings.TrimSuffix(strconv.FormatFloat(p, 'f', 1, 64), ".0") + "%"
	case p > 99 && p < 100:
		return ">99%"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + "%"
}

// milliseconds writes a latency for a sentence, with its unit: "150 ms",
// "1.46 s".
func milliseconds(v float64) string {
	if v >= 1000 {
		return display.Figure(v/1000) + " s"
	}
	return display.Figure(v) + " ms"
}

// microseconds writes a time that may be much shorter than a request: "2.50 µs",
// "4.56 ms".
func microseconds(v float64) string {
	if v < 999.5 {
		return display.Figure(v) + " µs"
	}
	return milliseconds(v / 1000)
}

// mebibytes is a number of bytes in MiB.
func mebibytes(b int64) float64 { return float64(b) / (1 << 20) }

// size writes bytes for a sentence, with their unit.
func size(b float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for b >= 1024 && i < len(units)-1 {
		b, i = b/1024, i+1
	}
	if b == math.Trunc(b) {
		return display.Grouped(int64(b)) + " " + units[i]
	}
	return display.Figure(b) + " " + units[i]
}

// maybe writes a figure that may not have been measured.
func maybe[T any](v *T, write func(T) string) string {
	if v == nil {
		return display.Absent
	}
	return write(*v)
}

// list joins words as a sentence does: "a", "a and b", "a, b and c".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
