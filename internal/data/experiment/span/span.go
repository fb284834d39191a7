// Package span reads and writes lengths of time as experiment files, flags and messages
// have them. It is below all other packages, so that every text can use it.
package span

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// errForm is the error of a text that is no length of time.
var errForm = errors.New("expected a time with its unit, as in 10s, 500ms or 2m")

// Text writes a length without the zeros at its end: "2m" and "1h30m", not "2m0s" and
// "1h30m0s".
func Text(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Parse reads a length of time. A number without a unit is in seconds, as with wrk and hey.
func Parse(text string) (time.Duration, error) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(seconds) < math.MaxInt64/1e9 {
		return time.Duration(seconds * float64(time.Second)), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, errForm
	}
	return d, nil
}
