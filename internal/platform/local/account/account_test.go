package account

import (
	"strings"
	"testing"
)

func TestLookup(t *testing.T) {
	for _, test := range []struct {
		text     string
		uid, gid int
		name     string
	}{
		{"root", 0, 0, "root"},
		{"0", 0, 0, "root"},
		{"0:7", 0, 7, "root"},
		{"4000123", 4000123, 4000123, ""},
		{"4000123:5", 4000123, 5, ""},
	} {
		t.Run(test.text, func(t *testing.T) {
			a, err := Lookup(test.text)
			if err != nil || a.UID != test.uid || a.GID != test.gid || a.Name != test.name {
				t.Errorf("%+v (%v), want %d:%d %s", a, err, test.uid, test.gid, test.name)
			}
		})
	}
	for text, want := range map[string]string{"no-such-user": "no user", "0:staff": "number of a group"} {
		if a, err := Lookup(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, error %v, want %q", text, a, err, want)
		}
	}
}
