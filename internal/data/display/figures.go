package display

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/base/digits"
	"github.com/millicore/millicore/internal/data/signals"
)

// Absent stands for what was not measured.
const Absent = "–"

// Grouped writes a whole number with a comma between thousands.
func Grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	if n < 0 {
		return "−" + digits.Grouped(text[1:])
	}
	return digits.Grouped(text)
}

// Figure writes a number with three significant digits, which is what the
// histograms hold, and never more than three decimals. Numbers from 1,000 up
// are written whole.
func Figure(v float64) string { return Fixed(v, Decimals(v)) }

// Milliseconds writes a latency of a histogram without its unit. One beyond the
// histograms' range is a lower bound: "> 3,600,000".
func Milliseconds(ms float64) string {
	if signals.IsBeyond(time.Duration(ms * float64(time.Millisecond))) {
		return "> " + Figure(float64(signals.HighestMicros)/1000)
	}
	return Figure(ms)
}

// MeanMilliseconds writes a mean latency, of which beyond lie beyond the
// histograms' range: then it is a lower bound.
func MeanMilliseconds(ms float64, beyond int64) string {
	if beyond > 0 {
		return "> " + Figure(ms)
	}
	return Figure(ms)
}

// WithUnit writes a latency of a histogram for a sentence, from a second up in
// seconds: "150 ms", "1.46 s", "> 3,600 s".
func WithUnit(ms float64) string {
	switch {
	case signals.IsBeyond(time.Duration(ms * float64(time.Millisecond))):
		return "> " + Figure(float64(signals.HighestMicros)/1e6) + " s"
	case ms >= 1000:
		return Figure(ms/1000) + " s"
	}
	return Figure(ms) + " ms"
}

// Counted writes a number with a noun, which has an s for several.
func Counted(n int64, word string) string {
	if n != 1 {
		word += "s"
	}
	return Grouped(n) + " " + word
}

// Users writes a number of users, which need not be whole.
func Users(n float64) string {
	if n != math.Trunc(n) {
		return Figure(n) + " users"
	}
	return Counted(int64(n), "user")
}

// Decimals is how many decimals Figure writes.
func Decimals(v float64) int {
	switch size := math.Abs(v); {
	case size == 0 || size >= 99.95:
		return 0
	case size >= 9.995:
		return 1
	case size >= 0.9995:
		return 2
	}
	return 3
}

// Fixed writes a number with so many decimals, commas between thousands, and a
// real minus; what rounds to 0 has no sign.
func Fixed(v float64, decimals int) string {
	if math.IsNaN(v) {
		return Absent
	}
	size := math.Abs(v)
	if decimals == 0 {
		size = math.Round(size) // as people round: halves away from 0
	}
	whole, rest, point := strings.Cut(strconv.FormatFloat(size, 'f', decimals, 64), ".")
	if math.IsInf(v, 0) {
		whole = "∞"
	}
	text := digits.Grouped(whole)
	if point {
		text += "." + rest
	}
	if v < 0 && strings.Trim(text, "0.,") != "" {
		return "−" + text
	}
	return text
}

// Signed writes a difference with its sign; 0 has none.
func Signed(v float64, decimals int) string {
	text := Fixed(v, decimals)
	if v > 0 && strings.Trim(text, "0.,") != "" {
		return "+" + text
	}
	return text
}

// Chance writes a p-value.
func Chance(p float64) string {
	switch {
	case p < 0.001:
		return "<0.001"
	case p < 0.1:
		return strconv.FormatFloat(p, 'f', 3, 64)
	}
	return strconv.FormatFloat(p, 'f', 2, 64)
}

// Clock writes a length of time to the second: 0:05, 1:15:00.
func Clock(d time.Duration) string {
	s := int(max(0, d).Round(time.Second).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// Exact writes a number for programs, with all its digits and no grouping;
// "" where it was not measured.
func Exact(v *float64) string {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}
