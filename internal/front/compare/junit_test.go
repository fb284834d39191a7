package compare

import (
	"bytes"
	"strings"
	"testing"
)

func TestBoundsAreTestCases(t *testing.T) {
	a, b := fixture("before", map[string][]float64{"1": quick}), fixture("after", map[string][]float64{"1": slow})
	matches := matched(t, a, b)
	r, err := Compare(matches, false)
	if err != nil {
		t.Fatal(err)
	}
	var bounds []Bound
	for _, text := range []string{"p99>+10%", "rate<-50%", "breaking_point<-5%"} { // broken, held, undecided
		bound, err := ParseBound(text)
		if err != nil {
			t.Fatal(err)
		}
		bounds = append(bounds, bound)
	}
	for strict, counts := range map[bool]string{false: `tests="3" failures="1" errors="0" skipped="1"`, true: `tests="3" failures="2" errors="0" skipped="0"`} {
		r.FailOn = nil
		r.Judge(bounds, strict)
		var out bytes.Buffer
		if err := JUnit(&out, r, matches, strict); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{counts, `<failure message="broken: p99 +324%`, `name="go procs=1: p99&gt;+10%"`, `<property name="A" value="before">`} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("strict=%v: no %q in\n%s", strict, want, out.String())
			}
		}
	}
}
