package facts

import (
	"slices"
	"testing"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/show/answer"
	"github.com/millicore/millicore/test/corpus"
	"github.com/millicore/millicore/test/testkit"
)

// TestTheNumbersOfTryAreThoseOfItsRecords renders what `millicore try` answers about one
// server in several settings, and under several limits, from the record of the searches
// and that of one common load.
func TestTheNumbersOfTryAreThoseOfItsRecords(t *testing.T) {
	of := func(name string, seed uint64) *examined {
		all := corpus.Cases()
		e := open(t, &all[slices.IndexFunc(all, func(c corpus.Case) bool { return c.Name == name })], seed)
		e.examine()
		return e
	}
	for _, tried := range []struct {
		found, level string
		labels       []string // of a, b, and so on
	}{
		{"try-searches", "try-level", []string{"as it is", "GOMAXPROCS=8", "GOMAXPROCS=4"}},
		{"try-repeated", "try-level", []string{"as it is", "GOMAXPROCS=8", "GOMAXPROCS=4"}},
		{"try-limits", "try-limits-level", []string{"as it is", "GOMAXPROCS=1", "as it is", "GOMAXPROCS=1"}},
		{"try-free", "try-free-level", []string{"as it is", "without the CPU limit"}},
		{"try-free", "try-cold-level", []string{"as it is", "without the CPU limit"}},
	} {
		for seed := range uint64(testkit.Samples(1, 2, 20)) {
			found, level := of(tried.found, seed+1), of(tried.level, seed+1)
			server := &experiment.Server{Name: "the server"}
			for i, label := range tried.labels {
				server.Settings = append(server.Settings, experiment.Setup{Service: string(rune('a' + i)), Label: label})
			}
			found.summary.Experiment.Server, found.summary.Common = server, level.summary
			figures := found.recordFigures()
			for _, e := range []*examined{found, level} {
				for i := range e.summary.Cells {
					figures = append(figures, e.cellFigures(i)...)
				}
			}
			figures = append(figures, level.recordFigures()...)
			found.among(answer.Of(found.summary).String(), figures)
		}
	}
}
