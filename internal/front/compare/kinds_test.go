package compare

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
)

// withKinds gives each trial of a selection two kinds of requests: one with the latencies and CPU
// time of the trial, and one whose are the same in each selection.
func withKinds(s *Selection, cpu float64, names ...string) *Selection {
	for i := range s.Cells {
		c := s.Cells[i].Figures
		for k := range c.PerTrial {
			t := &c.PerTrial[k]
			t.Kinds = []summary.KindFigures{
				{Name: names[0], Requests: 100, Availability: new(100.), Latency: &summary.Quantiles{P99: *t.P99}, CPUMS: new(cpu + float64(k)/100)},
				{Name: names[1], Requests: 100, Availability: new(100.), Latency: &summary.Quantiles{P99: 5 + float64(k)/10}},
			}
		}
		c.Kinds = []summary.KindFigures{{Name: names[0]}, {Name: names[1]}}
	}
	return s
}

// The kinds of requests are compared as cells are, by what both sides have, and corrected for all of
// them.
func TestKindsOfRequestsAreCompared(t *testing.T) {
	a := withKinds(fixture("before", map[string][]float64{"1": quick}), 9, "POST /orders", "GET /")
	b := withKinds(fixture("after", map[string][]float64{"1": slow}), 9.5, "POST /orders", "GET /")
	r := compared(t, a, b)
	got := map[string]verdict.Difference{}
	for _, k := range r.Pairs[0].Kinds {
		got[k.Metric+" "+k.Kind] = k.Difference
	}
	for name, want := range map[string]verdict.Direction{
		"p99 POST /orders": verdict.Higher, "p99 GET /": verdict.Alike, "availability POST /orders": verdict.Alike,
		"availability GET /": verdict.Alike, "cpu_per_request POST /orders": verdict.Higher,
	} {
		d, ok := got[name]
		if !ok || d.Verdict != want {
			t.Errorf("%s: %q, want %q", name, d.Verdict, want)
		}
	}
	if len(got) != 5 {
		t.Errorf("%d rows: %v", len(got), got)
	}
	if d := got["cpu_per_request POST /orders"]; *d.A > 9.1 || *d.B < 9.5 || d.Low == nil || *d.Low <= 0 {
		t.Errorf("CPU of POST /orders: %+v", d)
	}
	if of, alone := got["p99 POST /orders"], one(t, quick, slow).Pairs[0].Row("p99"); *of.PHolm != 2**alone.PHolm || of.Family != 2 {
		t.Errorf("p %v of %d kinds, of the only one %v", *of.PHolm, of.Family, *alone.PHolm)
	}
	var text bytes.Buffer
	if err := CSV(&text, r); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&text).ReadAll()
	if err != nil || !slices.ContainsFunc(lines, func(l []string) bool { return l[2] == "p99{POST /orders}" && l[14] == "higher" }) {
		t.Errorf("%v: %q", err, lines)
	}
}

func TestKindsOfOneSideAreNotCompared(t *testing.T) {
	a := withKinds(fixture("before", map[string][]float64{"1": quick}), 9, "POST /orders", "GET /")
	b := withKinds(fixture("after", map[string][]float64{"1": slow}), 9, "POST /order", "GET /")
	for _, k := range compared(t, a, b).Pairs[0].Kinds {
		if k.Kind != "GET /" {
			t.Errorf("%s of %s", k.Metric, k.Kind)
		}
	}
}

// A bound of one kind of requests is judged by their difference alone. A kind that the records do
// not have is an error: nothing would hold it.
func TestBoundsOfKinds(t *testing.T) {
	a := withKinds(fixture("before", map[string][]float64{"1": quick}), 9, "POST /orders", "GET /users/{id}")
	b := withKinds(fixture("after", map[string][]float64{"1": slow}), 9.5, "POST /orders", "GET /users/{id}")
	for text, want := range map[string]string{
		"p99{POST /orders}>+10%":                  "broken",
		"p99{GET /users/{id}} > +10 %":            "held",
		"cpu_per_request{POST /orders}>+0.1ms":    "broken",
		"cpu_per_request{POST /orders}>+10%":      "held",
		"cpu_per_request{GET /users/{id}}>+0.1ms": "untold", // it was not measured
		"availability{POST /orders}<-1pp":         "held",
		"p99{POST /order}>+10%":                   `--fail-on "p99{POST /order}>+10%": no requests of both records are of the kind "POST /order"; the kinds are GET /users/{id}, POST /orders`,
	} {
		bound, err := ParseBound(text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Compare(matched(t, a, b), false, bound)
		got := fmt.Sprint(err)
		if err == nil {
			r.Judge([]Bound{bound}, false)
			got = string(r.FailOn[0].Outcome)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	alone := matched(t, fixture("before", map[string][]float64{"1": quick}), fixture("after", map[string][]float64{"1": quick}))
	if _, err := Compare(alone, false, Bound{Text: "p99{GET /}>+1%", Kind: "GET /"}); err == nil || err.Error() != `--fail-on "p99{GET /}>+1%": the records have no kinds of requests in common: leave out {GET /}` {
		t.Error(err)
	}
}
