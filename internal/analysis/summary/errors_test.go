package summary

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFailuresAreThoseThatOccurred(t *testing.T) {
	names := func(e ErrorCounts) (all []string) {
		for _, f := range e.Failures() {
			all = append(all, f.Name)
		}
		return all
	}
	for _, c := range []struct {
		errors ErrorCounts
		want   []string
	}{
		{ErrorCounts{}, nil},
		{ErrorCounts{Dropped: 2, Refused: 1}, []string{"refused", "dropped"}},
		{ErrorCounts{Timeouts: 1, Refused: 1, Cut: 1, Malformed: 1, Failed: 1, Status: map[string]int64{"500": 1, "503": 2}, Dropped: 1},
			[]string{"timeout", "refused", "cut off", "malformed", "failed check", "bad status", "dropped"}},
	} {
		if d := cmp.Diff(c.want, names(c.errors)); d != "" {
			t.Errorf("%+v (-want +got):\n%s", c.errors, d)
		}
	}
	if got := (&ErrorCounts{Status: map[string]int64{"500": 1, "503": 2}}).Failures(); got[0].N != 3 {
		t.Errorf("%d bad statuses, want 3", got[0].N)
	}
}
