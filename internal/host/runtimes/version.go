package runtimes

import (
	"go/version"
	"strconv"
	"strings"
)

// atLeast compares a dotted version with numbers: atLeast("22.12.0", 22, 12). It
// returns false for an empty version, which is unknown.
func atLeast(v string, want ...int) bool {
	have := numbers(v)
	if len(have) == 0 {
		return false
	}
	for i, w := range want {
		h := 0
		if i < len(have) {
			h = have[i]
		}
		if h != w {
			return h > w
		}
	}
	return true
}

// numbers returns the leading dotted numbers of a version: 22, 12, 0 for
// "v22.12.0-rc1".
func numbers(v string) []int {
	var all []int
	for part := range strings.SplitSeq(strings.TrimPrefix(v, "v"), ".") {
		end := 0
		for end < len(part) && '0' <= part[end] && part[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(part[:end])
		if err != nil {
			break
		}
		all = append(all, n)
		if end < len(part) {
			break
		}
	}
	return all
}

// goVersion finds the release in a GoVersion such as "go1.26.8 X:nodwarf5" or
// "devel go1.27-0123abc Mon Jan 1"; "" if there is none.
func goVersion(s string) string {
	for field := range strings.FieldsSeq(s) {
		field, _, _ = strings.Cut(field, "-")
		if version.IsValid(field) {
			return field
		}
	}
	return ""
}

// GoAtLeast reports whether a toolchain is of a release such as go1.25, or later.
func GoAtLeast(v, want string) bool {
	v = goVersion(v)
	// Lang, so that go1.25rc1 counts as 1.25.
	return v != "" && version.Compare(version.Lang(v), want) >= 0
}

// godebug finds a setting in the list of GODEBUG; the last one wins.
func godebug(list, name string) (value string, ok bool) {
	for setting := range strings.SplitSeq(list, ",") {
		if v, found := strings.CutPrefix(setting, name+"="); found {
			value, ok = v, true
		}
	}
	return value, ok
}
