package proc

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Credentials
	}{
		"a program with the set-user-ID bit": {"Name:\tsu\nUid:\t1000\t0\t0\t0\nGid:\t1000\t42\t42\t42\nGroups:\t4 24 \n", Credentials{0, 1000, 42, 1000, []int{4, 24}}},
		"no supplementary group":             {"Uid:\t5\t5\t5\t5\nGid:\t6\t6\t6\t6\nGroups:\t\n", Credentials{5, 5, 6, 6, nil}},
		"malformed":                          {"Uid:\t5\nGid:\tx y\n", Credentials{-1, -1, -1, -1, nil}},
		"nothing":                            {"", Credentials{-1, -1, -1, -1, nil}},
	} {
		if diff := cmp.Diff(c.want, ParseCredentials([]byte(c.text))); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}
