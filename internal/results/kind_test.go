package results

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis"
)

func TestARecordHasOneKind(t *testing.T) {
	constant := analysis.CellSummary{Load: analysis.LoadSummary{Kind: "closed"}}
	stages := analysis.CellSummary{Load: analysis.LoadSummary{Kind: "open", Stages: true}}
	judged := stages
	judged.Breaking = &analysis.BreakingPoint{}
	benchmark := analysis.CellSummary{Load: analysis.LoadSummary{Kind: "benchmark"}}
	for _, c := range []struct {
		name  string
		cells []analysis.CellSummary
		want  Kind
	}{
		{"no cell", nil, Traffic},
		{"a constant load", []analysis.CellSummary{constant}, Traffic},
		{"stages", []analysis.CellSummary{constant, stages}, Ramp},
		{"stages with an objective", []analysis.CellSummary{stages, judged}, Search},
		{"a benchmark", []analysis.CellSummary{benchmark}, Benchmark},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := KindOf(&analysis.Summary{Cells: c.cells}); got != c.want {
				t.Errorf("kind %d, want %d", got, c.want)
			}
		})
	}
}
