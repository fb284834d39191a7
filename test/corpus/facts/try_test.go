package facts

import (
	"errors"
	"regexp"
	"slices"
	"testing"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/narrative"
	"github.com/millicore/millicore/test/corpus"
	"github.com/millicore/millicore/test/testkit"
)

// TestTheParagraphOfTryAgreesWithItsRecords renders what `millicore try` answers about one
// server in several settings, and under several limits: from the record of the searches,
// and that of one common load.
func TestTheParagraphOfTryAgreesWithItsRecords(t *testing.T) {
	of := func(name string, seed uint64) *examined {
		all := corpus.Cases()
		return examine(t, &all[slices.IndexFunc(all, func(c corpus.Case) bool { return c.Name == name })], seed)
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
			found.variants = narrative.Variants(found.summary)
			level.variants = found.variants
			for _, text := range narrative.Tried(found.summary) {
				for _, text := range sentences(text) {
					record := found
					if atLoad.MatchString(text) {
						record = level
					}
					examineTried(t, seed, record, statement{where: "try", text: text})
				}
			}
			for _, s := range tables(level.recorded, found.summary) {
				s.where, s.text = "try-table", withoutLoad.ReplaceAllString(s.text, "")
				examineTried(t, seed, level, s)
			}
		}
	}
}

// atLoad begins a sentence about the common load; withoutLoad is that load in the head of
// a column.
var (
	atLoad      = regexp.MustCompile(`^(?:Under [^,]+, a|A)t [\d,.]+ `)
	withoutLoad = regexp.MustCompile(` at [\d,.]+(?:/s| users)`)
)

func examineTried(t *testing.T, seed uint64, record *examined, s statement) {
	t.Helper()
	for _, err := range record.examine(s) {
		if errors.Is(err, errUnknown) || expected("try", s) == "" {
			t.Errorf("seed %d: %v\n\t%v", seed+1, s, err)
		}
	}
}
