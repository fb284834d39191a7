package compare

import (
	"math"

	"github.com/millicore/millicore/internal/display"
)

// value writes one side of a row. Availability keeps the decimals that distinguish
// 99.95 from 100.
func (r *Row) value(v *float64, atLeast bool) string {
	if v == nil {
		return display.Absent
	}
	text := display.Figure(*v * r.metric.scale)
	if r.metric.name == "availability" {
		text = display.Fixed(*v, r.places())
	}
	if atLeast {
		return "≥" + text
	}
	return text
}

func (r *Row) a() string { return r.value(r.A, r.AtLeast[0]) }
func (r *Row) b() string { return r.value(r.B, r.AtLeast[1]) }

// places are the decimals of a row's difference and its interval: those of its
// larger side, or more where the difference would vanish.
func (r *Row) places() int {
	larger := 0.0
	for _, v := range []*float64{r.A, r.B} {
		if v != nil {
			larger = max(larger, math.Abs(*v)*r.metric.scale)
		}
	}
	places := display.Decimals(larger)
	if r.metric.name == "availability" && larger > 90 && (!whole(r.A) || !whole(r.B)) {
		places = 3
	}
	if r.Difference == nil {
		return places
	}
	size := math.Abs(*r.Difference) * r.metric.scale
	for places < 3 && size > 0 && size < 0.95*math.Pow10(-places) {
		places++
	}
	return places
}

func whole(v *float64) bool { return v == nil || *v == math.Trunc(*v) }

// difference writes B - A.
func (r *Row) difference() string {
	if r.Difference == nil {
		return display.Absent
	}
	return display.Signed(*r.Difference*r.metric.scale, r.places())
}

// percent writes the difference in percent of A.
func (r *Row) percent() string {
	if r.Percent == nil {
		return display.Absent
	}
	places := 1
	if math.Abs(*r.Percent) >= 10 {
		places = 0
	}
	return display.Signed(*r.Percent, places) + "%"
}

// interval writes the 95% interval of the difference: "+510 to +560".
func (r *Row) interval() string {
	end := func(v *float64, open string) string {
		if v == nil {
			return open
		}
		return display.Signed(*v*r.metric.scale, r.places())
	}
	if r.Low == nil && r.High == nil {
		return display.Absent
	}
	return end(r.Low, "−∞") + " to " + end(r.High, "∞")
}

// chance writes P after Holm's correction.
func (r *Row) chance() string {
	if r.PHolm == nil {
		return display.Absent
	}
	return display.Chance(*r.PHolm)
}
