package traffic

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/record"
)

func TestThresholdsAreTestCases(t *testing.T) {
	r := answered(11)
	r.All.Record = &record.Record{Run: record.Run{Started: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)}}
	r.Length = 10 * time.Second
	thresholds, err := ParseThresholds([]string{"p50<100ms", "p99<200ms", "errors<5%"})
	if err != nil {
		t.Fatal(err)
	}
	kept, missed := Judge(r, thresholds)
	if missed != summary.Missed {
		t.Error("no threshold is missed")
	}
	var b bytes.Buffer
	if err := JUnit(&b, "http://127.0.0.1/", r, kept); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`tests="3" failures="1" errors="0" skipped="0" time="10.000"`, `timestamp="2026-01-31T12:00:00"`,
		`<property name="url" value="http://127.0.0.1/">`, `<testcase name="p50&lt;100ms" classname="load.threshold"`,
		`<failure message="missed: 300 ms" type="threshold">`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}
