package live

import (
	"math"
	"strings"
)

// bar is a bar of a share of a width, of the blocks that the report has. What is
// more than nothing is never shown as nothing.
func bar(share float64, width int) string {
	if !(share > 0) || width <= 0 {
		return ""
	}
	if length := int(math.Round(min(share, 1) * float64(width))); length > 0 {
		return strings.Repeat("■", length)
	}
	return "▏"
}

// gauge is a line of which a share is thick. The thin rest shows how much is left
// where there are no colours.
func gauge(share float64, width int) (done, left string) {
	halves := int(min(max(share, 0), 1) * float64(width) * 2)
	done = strings.Repeat("━", halves/2)
	if halves%2 == 1 {
		done += "╸"
	}
	return done, strings.Repeat("─", max(0, width-(halves+1)/2))
}

// levels are those of a sparkline. The full block is left out, so that the lines of
// neighbouring rows do not touch.
const levels = "▁▂▃▄▅▆▇"

// columns is how values are drawn over time: so many of them in one column of a
// sparkline, or each of them in so many columns.
type columns struct{ values, times int }

// mostTimes is in how many columns a value is drawn at most: more of them look like
// steps that were not there.
const mostTimes = 3

// fitted is how so many values fit into a width.
func fitted(values, width int) columns {
	values, width = max(1, values), max(1, width)
	return columns{values: (values + width - 1) / width, times: min(max(1, width/values), mostTimes)}
}

// width is how many columns so many values take.
func (c columns) width(values int) int { return (values + c.values - 1) / c.values * c.times }

// spark shows values over time, from 0 to the top: the lowest bar only where there
// was nothing, and a dot where nothing was measured. Where a column stands for
// several, it shows what merged gives of them.
func spark(values []float64, c columns, top float64, merged func([]float64) float64) string {
	var b strings.Builder
	bars := []rune(levels)
	for len(values) > 0 {
		n := min(c.values, len(values))
		v := merged(values[:n])
		values = values[n:]
		shown := '·'
		if !math.IsNaN(v) {
			level := 0.0
			if top > 0 {
				level = math.Ceil(v / top * float64(len(bars)-1))
			}
			shown = bars[int(min(max(level, 0), float64(len(bars)-1)))]
		}
		b.WriteString(strings.Repeat(string(shown), c.times))
	}
	return b.String()
}

// highest is the highest that was measured; NaN: none was.
func highest(values []float64) float64 {
	most := math.NaN()
	for _, v := range values {
		if !(v <= most) && !math.IsNaN(v) {
			most = v
		}
	}
	return most
}

// mean is that of what was measured; NaN: nothing was.
func mean(values []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(n)
}
