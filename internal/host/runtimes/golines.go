package runtimes

import (
	"slices"
	"strings"
)

// goMarks are settings whose default changed with a release of Go. If a program's
// DefaultGODEBUG has the old value, its go.mod names an older Go version. Sorted
// from the oldest (internal/godebugs/table.go, as of Go 1.26).
var goMarks = []struct{ setting, upTo string }{
	{"panicnil=1", "1.20"},
	{"httplaxcontentlength=1", "1.21"},
	{"asynctimerchan=1", "1.22"},
	{"randseednop=0", "1.23"},
	{"decoratemappings=0", "1.24"},
}

// GoLine infers the go line of go.mod from the DefaultGODEBUG that cmd/go wrote
// into the executable: the first of goMarks that it contains. It returns "" if
// container-awareness was switched off explicitly, by its own setting.
func GoLine(defaultGODEBUG string) string {
	settings := strings.Split(defaultGODEBUG, ",")
	for i, mark := range goMarks {
		switch {
		case !slices.Contains(settings, mark.setting):
		case i == 0:
			return "go " + mark.upTo + " or older"
		default:
			return "go " + mark.upTo
		}
	}
	return ""
}
