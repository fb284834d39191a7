package facts

import (
	"regexp"
	"testing"
)

// wrong is a kind of statement that is known to be wrong, and still made. The table only
// shrinks: an entry that no record needs any more fails the test.
type wrong struct {
	cases, text string // regular expressions
	why         string

	of, in *regexp.Regexp
	seen   bool
}

var knownWrong = []*wrong{
	{cases: ".*", text: `^headline: v=[AB]: [\d.]+ requests/s\.$`, why: "the rate is the median over trials, which is not named; the table has that of all trials"},
	{cases: ".*", text: `95% interval [\d,]+ to [\d.]+ s`, why: "the lower end is in ms, the upper one in s"},
	{cases: "generator-stalls|generator-stall-makes-queue", text: `lower bound`, why: "the agent sent all that was due; it sent late"},
	{cases: "generator-stall-makes-queue", text: `aiting in the generator`, why: "the requests waited in the service, in a queue that the agent's pause caused"},
	{cases: "closed-six-identical|twelve-identical", text: `^headline: None of \d+ cells has a significantly lower p99`, why: "ends by the order of medians, but figures of all trials"},
	{cases: "search-users|search-p95|ramp-of-a-slow-cell|try-searches", text: `limited by:? (?:its CPU limit|cpu limit: .* throttled in 0% of the periods)`, why: "one or two workers under a limit of as many CPUs: the limit never throttled"},
	{cases: "search-limit-smooth", text: `breaks at`, why: "an estimate far above every load that was held"},
	{cases: "try-searches|search-.*", text: `measured at that load`, why: "the load is an estimate; another one was tested"},
}

// expected is why a statement that is known to be wrong is still made; "": it is not
// known.
func expected(name string, s statement) string {
	for _, w := range knownWrong {
		if w.of == nil {
			w.of, w.in = regexp.MustCompile("^(?:"+w.cases+")$"), regexp.MustCompile(w.text)
		}
		if w.of.MatchString(name) && w.in.MatchString(s.String()) {
			w.seen = true
			return w.why
		}
	}
	return ""
}

// shrink fails for entries that no statement needed.
func shrink(t *testing.T) {
	t.Helper()
	for _, w := range knownWrong {
		if !w.seen {
			t.Errorf("no statement of %s is wrong any more because %s: remove the entry of knownWrong", w.cases, w.why)
		}
	}
}
