package analysis

import "testing"

func TestDisturbersAreNamedWhereTheRecordNamesThem(t *testing.T) {
	searched := func(by ...string) CellSummary {
		return CellSummary{Flags: []string{searchDisturbed}, Breaking: &BreakingPoint{DisturbedBy: by}}
	}
	for _, c := range []struct {
		name string
		cell CellSummary
		want Disturbers
	}{
		{"nobody", CellSummary{Flags: []string{"low_idle"}}, Disturbers{}},
		{"a neighbour of trials", CellSummary{Flags: []string{"busy_neighbour"}}, Disturbers{Neighbours: true}},
		{"the hypervisor in trials", CellSummary{Flags: []string{"busy_hypervisor"}}, Disturbers{Hypervisor: true}},
		{"a neighbour of a search", searched(Neighbours), Disturbers{Neighbours: true}},
		{"both in a search", searched(Neighbours, Hypervisor), Disturbers{Neighbours: true, Hypervisor: true}},
		{"a search of an older version", searched(), Disturbers{Unnamed: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.cell.Disturbers(); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
	near, below, unnamed := Disturbers{Neighbours: true}, Disturbers{Hypervisor: true}, Disturbers{Unnamed: true}
	if got := near.And(unnamed); got != near {
		t.Errorf("a neighbour and one unnamed: %+v, want %+v", got, near)
	}
	if got, want := unnamed.And(near).And(below), (Disturbers{Neighbours: true, Hypervisor: true}); got != want {
		t.Errorf("all: %+v, want %+v", got, want)
	}
	if got := unnamed.And(Disturbers{}); got != unnamed {
		t.Errorf("one unnamed: %+v", got)
	}
}
