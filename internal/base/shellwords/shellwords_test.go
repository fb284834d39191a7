package shellwords

import (
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	t.Setenv("OLD_DIR", "/opt/old")
	for line, want := range map[string][]string{
		`./old --fast`:                      {"./old", "--fast"},
		`"$OLD_DIR"/api --name 'two words'`: {"/opt/old/api", "--name", "two words"},
		`./old --listen 127.0.0.1:${port}`:  {"./old", "--listen", "127.0.0.1:${port}"},
		``:                                  nil,
		`'unclosed`:                         nil,
		`./old --dir $MILLICORE_UNSET`:      nil,
		`./old ${MILLICORE_UNSET:-x}`:       {"./old", "x"},
		`./old $(date)`:                     nil,
	} {
		got, err := Split(line)
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("Split(%q) = %q, %v, want %q", line, got, err, want)
		}
	}
}
