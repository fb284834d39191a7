package narrative

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis"
)

func TestFailuresAreThoseThatOccurred(t *testing.T) {
	names := func(e analysis.ErrorCounts) (all []string) {
		for _, f := range Failures(&e) {
			all = append(all, f.Name)
		}
		return all
	}
	for _, c := range []struct {
		errors analysis.ErrorCounts
		want   []string
	}{
		{analysis.ErrorCounts{}, nil},
		{analysis.ErrorCounts{Dropped: 2, Refused: 1}, []string{"refused", "dropped"}},
		{analysis.ErrorCounts{Timeouts: 1, Refused: 1, Cut: 1, Malformed: 1, Failed: 1, Status: map[string]int64{"500": 1, "503": 2}, Dropped: 1},
			[]string{"timeout", "refused", "cut off", "malformed", "failed check", "bad status", "dropped"}},
	} {
		if d := cmp.Diff(c.want, names(c.errors)); d != "" {
			t.Errorf("%+v (-want +got):\n%s", c.errors, d)
		}
	}
	if got := Failures(&analysis.ErrorCounts{Status: map[string]int64{"500": 1, "503": 2}}); got[0].N != 3 {
		t.Errorf("%d bad statuses, want 3", got[0].N)
	}
}
