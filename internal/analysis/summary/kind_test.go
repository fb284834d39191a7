package summary

import "testing"

func TestARecordHasOneKind(t *testing.T) {
	constant := Cell{Load: Load{Kind: "closed"}}
	stages := Cell{Load: Load{Kind: "open", Stages: true}}
	judged := stages
	judged.Breaking = &BreakingPoint{}
	benchmark := Cell{Load: Load{Kind: "benchmark"}}
	for _, c := range []struct {
		name  string
		cells []Cell
		want  Kind
	}{
		{"no cell", nil, KindTraffic},
		{"a constant load", []Cell{constant}, KindTraffic},
		{"stages", []Cell{constant, stages}, KindRamp},
		{"stages with an objective", []Cell{stages, judged}, KindSearch},
		{"a benchmark", []Cell{benchmark}, KindBenchmark},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (&Summary{Cells: c.cells}).Kind(); got != c.want {
				t.Errorf("kind %d, want %d", got, c.want)
			}
		})
	}
}
