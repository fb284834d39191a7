package caches

import (
	"math"
	"strconv"
	"strings"
)

// GoSize parses GOMEMLIMIT: a number, with or without one of the units B, KiB, MiB,
// GiB, TiB. "off", the default, is not a size. Package runtime, "Environment
// Variables".
func GoSize(text string) (int64, bool) {
	units := []string{"KiB", "MiB", "GiB", "TiB"}
	for i, unit := range units {
		if number, ok := strings.CutSuffix(text, unit); ok {
			return shifted(number, 10*(i+1))
		}
	}
	return shifted(strings.TrimSuffix(text, "B"), 0)
}

// JavaSize parses a size as the JVM does: a number, with or without k, m, g or t.
func JavaSize(text string) (int64, bool) {
	for i, unit := range []string{"k", "m", "g", "t"} {
		if number, ok := strings.CutSuffix(strings.ToLower(text), unit); ok {
			return shifted(number, 10*(i+1))
		}
	}
	return shifted(text, 0)
}

// shifted parses a number and multiplies it by 2^by. ok is false if it is not a
// number or does not fit into an int64.
func shifted(number string, by int) (int64, bool) {
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>by {
		return 0, false
	}
	return n << by, true
}
