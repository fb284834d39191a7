package report

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
)

// TestRecordsGuideNamesEveryField holds docs/record.md against what is written.
func TestRecordsGuideNamesEveryField(t *testing.T) {
	text, err := os.ReadFile("../../../docs/record.md")
	if err != nil {
		t.Fatal(err)
	}
	guide := string(text)
	for _, col := range slices.Concat(csvColumns(), csvBenchmark, csvKinds) {
		if !strings.Contains(guide, "`"+col.name+"`") {
			t.Errorf("the CSV's column %q is not named", col.name)
		}
	}
	for _, of := range []any{summary.Cell{}, summary.Objective{}, summary.BreakingPoint{}, summary.Knee{}, summary.Causes{}, summary.Comparison{}, summary.Claim{}, summary.ClaimedCell{}, summary.Waits{}, summary.KindFigures{}} {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(of)) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if !strings.Contains(guide, "`"+name+"`") {
				t.Errorf("%T: the field %q is not named", of, name)
			}
		}
	}
}
