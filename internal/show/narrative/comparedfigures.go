package narrative

import (
	"fmt"
	"math"

	"github.com/millicore/millicore/internal/data/display"
)

// Left and Right write the sides of a difference.
func (d Difference) Left() string  { return d.side(d.A, d.AtLeast[0]) }
func (d Difference) Right() string { return d.side(d.B, d.AtLeast[1]) }

// side writes one side. Availability keeps the decimals that distinguish 99.95 from
// 100.
func (d Difference) side(v *float64, atLeast bool) string {
	if v == nil {
		return display.Absent
	}
	text := display.Figure(*v * d.Scale())
	if d.Metric == "availability" {
		text = display.Fixed(*v, d.places())
	}
	if atLeast {
		return "≥" + text
	}
	return text
}

// places are the decimals of the shift and its interval: those of the larger side,
// or more if the shift would vanish.
func (d Difference) places() int {
	larger := 0.0
	for _, v := range []*float64{d.A, d.B} {
		if v != nil {
			larger = max(larger, math.Abs(*v)*d.Scale())
		}
	}
	places := display.Decimals(larger)
	if d.Metric == "availability" && larger > 90 && (!whole(d.A) || !whole(d.B)) {
		places = 3
	}
	if d.Shift == nil {
		return places
	}
	size := math.Abs(*d.Shift) * d.Scale()
	for places < 3 && size > 0 && size < 0.95*math.Pow10(-places) {
		places++
	}
	return places
}

func whole(v *float64) bool { return v == nil || *v == math.Trunc(*v) }

// ShiftText writes B - A.
func (d Difference) ShiftText() string {
	return display.Maybe(d.Shift, func(v float64) string { return display.Signed(v*d.Scale(), d.places()) })
}

// PercentText writes the shift in percent of A.
func (d Difference) PercentText() string {
	return display.Maybe(d.Percent, func(v float64) string {
		if math.Abs(v) >= 10 {
			return display.Signed(v, 0) + "%"
		}
		return display.Signed(v, 1) + "%"
	})
}

// Ends writes the 95% interval of the shift: "+510 to +560".
func (d Difference) Ends() string {
	if d.Low == nil && d.High == nil {
		return display.Absent
	}
	end := func(v *float64, open string) string {
		if v == nil {
			return open
		}
		return display.Signed(*v*d.Scale(), d.places())
	}
	return end(d.Low, "−∞") + " to " + end(d.High, "∞")
}

// Chance writes p after Holm's correction.
func (d Difference) Chance() string { return display.Maybe(d.PHolm, display.Chance) }

// Counts writes the number of trials of A and of B: "6+6".
func (d Difference) Counts() string { return fmt.Sprintf("%d+%d", d.Trials[0], d.Trials[1]) }

// UnitName is the unit for people, in which Scale writes a figure.
func (d Difference) UnitName() string {
	switch d.Unit {
	case "share":
		return "%"
	case "bytes":
		return "MiB"
	}
	return d.Unit
}

// Scale is what a figure is multiplied by to be in the unit for people.
func (d Difference) Scale() float64 {
	if d.Unit == "bytes" {
		return 1.0 / (1 << 20)
	}
	return d.Difference.Scale()
}

// unit is the unit behind a figure.
func (d Difference) unit() string {
	if d.UnitName() == "%" {
		return "%"
	}
	return " " + d.UnitName()
}

// points is the unit of a difference: percentages differ by points.
func (d Difference) points() string {
	if d.UnitName() == "%" {
		return "points"
	}
	return d.UnitName()
}
