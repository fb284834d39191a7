package facts

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/corpus"
	"github.com/millicore/millicore/internal/narrative"
	"github.com/millicore/millicore/internal/testkit"
)

// TestTheParagraphOfTryAgreesWithItsRecords renders what `millicore try` answers about
// three settings: from the record of their searches, and that of one common load.
func TestTheParagraphOfTryAgreesWithItsRecords(t *testing.T) {
	of := func(name string, seed uint64) *examined {
		all := corpus.Cases()
		e := examine(t, &all[slices.IndexFunc(all, func(c corpus.Case) bool { return c.Name == name })], seed)
		e.variants = []narrative.Variant{{Service: "a", Label: "as it is", Limits: "a limit of 1 CPU"}, {Service: "b", Label: "GOMAXPROCS=8"}, {Service: "c", Label: "GOMAXPROCS=4"}}
		return e
	}
	for seed := range uint64(testkit.Samples(1, 2, 20)) {
		found, level := of("try-searches", seed+1), of("try-level", seed+1)
		for _, text := range sentences(narrative.Tried("the server", found.variants, found.summary, level.summary)) {
			record, s := found, statement{where: "try", text: text}
			if strings.HasPrefix(text, "At ") {
				record = level
			}
			for _, err := range record.examine(s) {
				if errors.Is(err, errUnknown) || expected("try", s) == "" {
					t.Errorf("seed %d: %v\n\t%v", seed+1, s, err)
				}
			}
		}
	}
}
