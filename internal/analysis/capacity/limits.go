package capacity

import (
	"fmt"
	"maps"
	"slices"

	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/base/digits"
	"github.com/millicore/millicore/internal/base/phrase"
)

// limit returns what limits a stretch, the generator, the host or the service, and the
// figures that show it.
func (s Stretch) limit(blocks []search.Block) (by, evidence string) {
	if by := s.outside(); by != "" {
		return by, s.outsideText(by)
	}
	return s.inside(blocks)
}

// inside returns what limits the service, and the errors beside it.
func (s Stretch) inside(blocks []search.Block) (by, evidence string) {
	by, evidence = s.used(blocks)
	if failed := s.tooManyFailed(); failed != "" && by != summary.ByErrors {
		evidence = followed(evidence, "and at the lowest loads that missed the objective "+failed)
	}
	return by, evidence
}

// used returns what the service has used up. It checks the certain causes first.
func (s Stretch) used(blocks []search.Block) (by, evidence string) {
	server := &s.Sums.Server
	if server.OOMKills != nil && *server.OOMKills > 0 {
		return summary.ByMemory, phrase.Plural(int(*server.OOMKills), "OOM kill") + " in the windows above it"
	}
	if text := s.failedText(blocks); text != "" {
		if n := sums.Value(server.Restarts); n > 0 {
			text += fmt.Sprintf("; the service ended %s there", phrase.Plural(int(n), "time"))
		}
		return summary.ByErrors, text
	}
	if by, evidence := s.atLimit(); by != "" {
		return by, evidence
	}
	if text := s.dependencyText(); text != "" {
		return summary.ByDependency, text
	}
	if text := s.waitedText(); text != "" {
		return summary.ByDependency, text
	}
	if stoppedInBursts(server) {
		return summary.ByThrottling, fmt.Sprintf("it was %s, though it used %.0f%% of its CPU limit on average", throttledText(server), 100*sums.Value(server.OfLimit()))
	}
	if by, evidence := s.busy(); by != "" {
		return by, evidence
	}
	return summary.ByService, s.unknownText()
}

// atLimit returns ByCPULimit if the service uses its limit and the kernel stops it.
// Whether the kernel stops it may not be measured. Then only a use that no number of
// busy threads explains shows the limit.
func (s Stretch) atLimit() (by, evidence string) {
	server := &s.Sums.Server
	if !atOwnLimit(server) {
		return "", ""
	}
	if threads, _ := wholeCores(*server.Cores()); threads > 0 && !stopped(server) {
		return summary.ByService, fmt.Sprintf("%s, as %s; whether it was throttled was not measured, so it is the limit or its own parallelism", usedText(server), busyThreads(threads))
	}
	return summary.ByCPULimit, followed(usedText(server), throttledText(server))
}

// dependencyText states that the CPU limit of a dependency is used up or stops it, by the
// thresholds that hold for the service itself; "" otherwise.
func (s Stretch) dependencyText() string {
	for _, name := range slices.Sorted(maps.Keys(s.Sums.Deps)) {
		d := s.Sums.Deps[name]
		switch {
		case atOwnLimit(d):
			return followed(fmt.Sprintf("%s used %.0f%% of its own CPU limit", name, 100**d.OfLimit()), throttledText(d))
		case stoppedInBursts(d):
			return fmt.Sprintf("%s was %s, though it used %.0f%% of its own CPU limit on average", name, throttledText(d), 100*sums.Value(d.OfLimit()))
		}
	}
	return ""
}

// waitedText states that requests spend most of their time waiting for a dependency, as
// the service reports it; "" otherwise.
func (s Stretch) waitedText() string {
	n := float64(s.Sums.Client.Service.Count())
	if n == 0 {
		return ""
	}
	waited, took := 1e3*s.Sums.Waits.Seconds()/n, summary.MS(s.Sums.Client.Service.Mean())
	if waited < waitShare*took {
		return ""
	}
	return fmt.Sprintf("a request took %s ms, of which it waited %s ms for a dependency", digits.Three(took), digits.Three(min(waited, took)))
}
