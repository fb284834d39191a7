package live

import (
	"math"
	"strings"

	"github.com/millicore/millicore/internal/base/tui"
)

// bar is a bar of a share of a width, with the block of the report's bars. A share above
// 0 is never empty.
func bar(share float64, width int) string {
	if !(share > 0) || width <= 0 {
		return ""
	}
	if length := int(math.Round(min(share, 1) * float64(width))); length > 0 {
		return strings.Repeat("■", length)
	}
	return "▏"
}

// gauge is a line of which a share is thick. The rest is thin, so that the line is
// readable without colours.
func gauge(share float64, width int) (done, left string) {
	halves := int(min(max(share, 0), 1) * float64(width) * 2)
	done = strings.Repeat("━", halves/2)
	if halves%2 == 1 {
		done += "╸"
	}
	return done, strings.Repeat("─", max(0, width-(halves+1)/2))
}

// levels are the bars of a sparkline. The full block is left out, so that neighbouring
// rows do not touch.
const levels = "▁▂▃▄▅▆▇"

// columns defines how values become columns of a sparkline: a number of values in each
// column, or each value in a number of columns (times).
type columns struct{ values, times int }

// maxTimes is the maximum number of columns of a value: more of them look like steps in
// the data.
const maxTimes = 3

// fitted returns the columns of a number of values in a width.
func fitted(values, width int) columns {
	values, width = max(1, values), max(1, width)
	return columns{values: (values + width - 1) / width, times: min(max(1, width/values), maxTimes)}
}

// width is the number of columns of a number of values.
func (c columns) width(values int) int { return (values + c.values - 1) / c.values * c.times }

// spark draws values over time between 0 and top. The values of one column are merged.
func spark(values []float64, c columns, top float64, merged func([]float64) float64) string {
	var b strings.Builder
	for len(values) > 0 {
		n := min(c.values, len(values))
		b.WriteString(strings.Repeat(string(tui.SparkBar(merged(values[:n]), top, levels)), c.times))
		values = values[n:]
	}
	return b.String()
}

// highest is the highest measured value; NaN: none was measured.
func highest(values []float64) float64 {
	most := math.NaN()
	for _, v := range values {
		if !(v <= most) && !math.IsNaN(v) {
			most = v
		}
	}
	return most
}

// mean is the mean of the measured values; NaN: none was measured.
func mean(values []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(n)
}
