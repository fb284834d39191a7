package try

import (
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
)

// Who took CPU that was not theirs, as a verdict says it.
const (
	byOthers     = "other processes used this machine's CPUs"
	byHypervisor = "the hypervisor took CPU from this machine"
	byEither     = "other processes or the hypervisor took CPU" // a search does not say which
	byWaiting    = "the generator had to wait for a CPU"
)

// disturbers are who took CPU from a cell, by its flags. A search notes that its
// windows were disturbed, whoever did it; what it tested last tells who.
func disturbers(c *analysis.CellSummary) []string {
	var all []string
	has := func(flag string) bool { return c != nil && slices.Contains(c.Flags, flag) }
	if has("busy_neighbour") {
		all = append(all, byOthers)
	}
	if has("busy_hypervisor") {
		all = append(all, byHypervisor)
	}
	if has("search_disturbed") && len(all) == 0 {
		all = append(all, byEither)
	}
	if has("agent_waited") {
		all = append(all, byWaiting)
	}
	return all
}

// doubts names what disturbed the figures that the verdict rests on: of all
// searches, and of the comparison at one load, which p99 rests on.
func (v *verdict) doubts(level *analysis.Summary) string {
	searching, comparing := map[string]bool{}, map[string]bool{}
	note := func(in map[string]bool, c *analysis.CellSummary) {
		for _, who := range disturbers(c) {
			in[who] = true
		}
	}
	for _, x := range v.variants {
		note(searching, v.cell(x))
		if level != nil && !x.Unlimited {
			note(comparing, byService(level)[x.Service])
		}
	}
	var parts []string
	if who := inOrder(searching); who != "" {
		parts = append(parts, "while breaking points were searched, "+who)
	}
	if who := inOrder(comparing); who != "" {
		parts = append(parts, "while p99 was compared, "+who)
	}
	if len(parts) == 0 {
		return ""
	}
	return sentence(strings.Join(parts, "; ") + ": repeat it on a quiet machine before you rely on it")
}

func inOrder(who map[string]bool) string {
	if who[byOthers] && who[byHypervisor] {
		delete(who, byEither)
	}
	var all []string
	for _, one := range []string{byOthers, byHypervisor, byEither, byWaiting} {
		if who[one] {
			all = append(all, one)
		}
	}
	return strings.Join(all, ", and ")
}
