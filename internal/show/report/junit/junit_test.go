package junit

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/test/sample"
	"github.com/millicore/millicore/test/testkit/golden"
)

func TestAsExpected(t *testing.T) {
	var b bytes.Buffer
	err := Write(&b, []Suite{{
		Name: "procs", Started: time.Date(2026, 1, 31, 12, 0, 0, 0, time.FixedZone("", 3600)), Seconds: 61.5, Properties: [][2]string{{"platform", "local"}},
		Cases: []Case{
			{Class: "objective", Name: "procs=1: p99 <= 250ms", Why: "met"},
			{Class: "objective", Name: "procs=2", Outcome: Failed, Why: `missed: "p99" <704 ms>`},
			{Class: "claim", Name: " Go \x1b[31mis  faster ", Outcome: Skipped, Why: "inconclusive: one CPU"},
		},
	}, {Started: time.Unix(0, 0)}})
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "suites.xml", b.String())
}

// A record's suite has a case for each objective and each claim, and its counts are right.
func TestOfARecord(t *testing.T) {
	s := sample.WithClaims(sample.Procs()).Summary
	var b bytes.Buffer
	if err := Write(&b, []Suite{Of(s)}); err != nil {
		t.Fatal(err)
	}
	var doc suites
	if err := xml.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	want := len(s.Claims)
	for i := range s.Cells {
		if s.Cells[i].Objective != nil {
			want++
		}
	}
	got := doc.Suites[0]
	failures, skips := 0, 0
	for _, c := range got.Cases {
		if c.Failure != nil {
			failures++
		}
		if c.Skipped != nil {
			skips++
		}
	}
	if want == 0 || got.Tests != want || len(got.Cases) != want || got.Failures != failures || got.Skipped != skips {
		t.Errorf("%d cases, tests=%d failures=%d skipped=%d; want %d cases, %d, %d", len(got.Cases), got.Tests, got.Failures, got.Skipped, want, failures, skips)
	}
	if !strings.Contains(b.String(), `<failure message="missed: p99 `) {
		t.Errorf("no objective was missed in\n%s", b.String())
	}
}
