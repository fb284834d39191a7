package traffic

import (
	"math"

	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/signals"
)

// MS writes a time in milliseconds with its unit, from a second up in seconds.
func MS(v float64) string {
	if v >= 1000 {
		return display.Figure(v/1000) + " s"
	}
	return display.Figure(v) + " ms"
}

// Share writes a percentage; one that is not 100 as less than that.
func Share(percent float64) string {
	if text := display.Figure(percent); percent == 100 || text != "100" {
		return text
	}
	return ">99.9"
}

// Volume writes bytes with their unit.
func Volume(v float64) string {
	if v < 1000 && v == math.Trunc(v) {
		return display.Fixed(v, 0) + " B"
	}
	for _, unit := range []string{"B", "KiB", "MiB", "GiB"} {
		if v < 1000 || unit == "GiB" {
			return display.Figure(v) + " " + unit
		}
		v /= 1024
	}
	return ""
}

// Kind is a way in which requests ended, and how many did.
type Kind struct {
	Name string
	N    int64
}

// Failures are the requests that got no whole answer, whose answer failed a check,
// or that were never sent. Kinds that did not occur are left out.
func Failures(c *signals.Client) []Kind {
	var all []Kind
	for _, k := range []Kind{
		{"timed out", c.Timeouts}, {"no connection", c.Refused}, {"connection cut off", c.Cut},
		{"not HTTP", c.Malformed}, {"failed a check", c.Failed}, {"due, never sent", c.Dropped},
	} {
		if k.N > 0 {
			all = append(all, k)
		}
	}
	return all
}
