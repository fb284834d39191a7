package narrative

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
)

// One word may have several reasons: each cell has the text of its own.
func TestAFlagSaysWhatItWas(t *testing.T) {
	breaking := func(c *summary.Cell) { c.Breaking = &summary.BreakingPoint{} }
	find := func(c *summary.Cell) { c.Load.Find = true }
	stages := func(c *summary.Cell) { c.Load.Stages = true }
	lag := func(us float64) change {
		return func(c *summary.Cell) { c.Generator.SendLagP99US = &us }
	}
	withFlag := func(word summary.Flag) change {
		return func(c *summary.Cell) { c.Flags = append(c.Flags, word) }
	}
	periods := func(throttled, of int64) change {
		return func(c *summary.Cell) { c.CPU.ThrottledPeriods, c.CPU.Periods = &throttled, &of }
	}
	const outcome = " A disturbed window is repeated or left out, which widens the interval or leaves none."
	for name, c := range map[string]struct {
		word summary.Flag
		cell summary.Cell
		want string
	}{
		"a search beside a neighbour": {"search_disturbed", cellOf("go", breaking, find, disturbedBy(summary.Neighbours)),
			"The search for the breaking point was disturbed by other processes." + outcome},
		"a search on a host whose CPU was stolen": {"search_disturbed", cellOf("go", breaking, find, disturbedBy(summary.Hypervisor)),
			"The search for the breaking point was disturbed by steal time." + outcome},
		"a search by an older version": {"search_disturbed", cellOf("go", breaking, find, disturbedBy()),
			"Other processes or the hypervisor took CPU while the breaking point was searched." + outcome},
		"a ramp": {"search_disturbed", cellOf("go", breaking, stages, disturbedBy(summary.Hypervisor)),
			"The search for the breaking point was disturbed by steal time. The level that missed the objective meanwhile, and those above it, do not show where the service breaks."},
		"a generator that sent late": {"generator_limited", cellOf("go", open(100), lag(2500)), flagTexts["generator_limited"]},
		"a generator that sent fewer": {"generator_limited", cellOf("go", open(100), lag(2500), func(c *summary.Cell) {
			c.Generator.Limited, c.Generator.DueRPS, c.Generator.SentRPS = true, ptr(100.0), ptr(80.0)
		}), "The generator sent 80.0 of 100 requests/s: it was the limit, not the service. Rates are lower bounds. " + generatorAdvice},
		"a replay that was sent late": {"sent_late", cellOf("go", open(100), lag(2500), func(c *summary.Cell) { c.Load.Replay = true }),
			"1% of the requests were sent more than 2.50 ms late: latencies include the generator's own delay. Use a lower --speed, fewer connections, or another machine."},
		"a generator that sent late, and all": {"sent_late", cellOf("go", open(100), lag(2500)), "1% of the requests were sent more than 2.50 ms late: latencies include the generator's own delay. " + generatorAdvice},
		"a generator of users that waited":    {"generator_limited", cellOf("go", lag(20)), waitedText},
		"a generator of users that sent late": {"generator_limited", cellOf("go", lag(2500)), flagTexts["generator_limited"]},
		"a generator whose lag is not known":  {"generator_limited", cellOf("go"), flagTexts["generator_limited"]},
		"a generator that was throttled":      {"generator_limited", cellOf("go", open(100), withFlag("agent_throttled")), besideText},
		"a generator that lost an agent":      {"generator_limited", cellOf("go", withFlag("agent_lost")), besideText},
		"throttling that nobody saw":          {"no_windows", cellOf("go", periods(45, 100)), "The service was throttled in 45% of its periods, but the times were not recorded. Use --node-agent to learn the share of the slow tail."},
		"a word of another version":           {"hot_moon", cellOf("go"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, FlagText(c.word, &c.cell)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestCellsOfOneWordAndSeveralReasonsAreApart(t *testing.T) {
	s := &summary.Summary{Cells: []summary.Cell{
		cellOf("a", func(c *summary.Cell) { c.Breaking = &summary.BreakingPoint{} }, disturbedBy(summary.Neighbours)),
		cellOf("b", func(c *summary.Cell) { c.Breaking = &summary.BreakingPoint{} }, disturbedBy(summary.Hypervisor)),
		cellOf("c", func(c *summary.Cell) { c.Breaking = &summary.BreakingPoint{} }, disturbedBy(summary.Neighbours)),
	}}
	var who [][]int
	for _, f := range Flags(s) {
		who = append(who, f.Cells)
	}
	if d := cmp.Diff([][]int{{0, 2}, {1}}, who); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// declaredFlags are the values of the constants of type Flag in analysis/summary/flags.go.
func declaredFlags(t *testing.T) []summary.Flag {
	t.Helper()
	source, err := os.ReadFile("../../analysis/summary/flags.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []summary.Flag
	for _, m := range regexp.MustCompile(`Flag\w+ +Flag = "(\w+)"`).FindAllSubmatch(source, -1) {
		all = append(all, summary.Flag(m[1]))
	}
	if len(all) < 20 {
		t.Fatalf("%d flags were found in analysis/summary/flags.go, want 20 or more", len(all))
	}
	return all
}

func TestEveryFlagHasALabelAndAnExplanation(t *testing.T) {
	labels := map[string]summary.Flag{}
	for _, word := range declaredFlags(t) {
		label := flagLabels[word]
		if label == "" || len(label) > 24 || strings.Contains(label, "_") {
			t.Errorf("%s has the label %q; want a few words", word, label)
		}
		if other, ok := labels[label]; ok {
			t.Errorf("%s and %s have the same label", word, other)
		}
		if labels[label] = word; flagTexts[word] == "" {
			t.Errorf("%s has no explanation", word)
		}
	}
	if got := FlagLabel("seen_by_a_later_version"); got != "seen by a later version" {
		t.Errorf("an unknown flag has the label %q", got)
	}
}

func TestAServiceThatEndedInASearchIsReported(t *testing.T) {
	ended := int64(2)
	c := &summary.Cell{Restarts: &ended, Load: summary.Load{Find: true}}
	if got, want := FlagText(summary.FlagRestarted, c), "The service ended 2 times while its breaking point was searched, and was restarted. Its log has its last output."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Cells with four or five trials are ranked, so their flag does not deny the tests.
func TestFewTrialsDenyNoTest(t *testing.T) {
	for n, untested := range map[int]bool{3: true, 4: false, 5: false} {
		c := cellOf("go", func(c *summary.Cell) { c.Trials = n })
		if got := strings.Contains(FlagText(summary.FlagFewTrials, &c), "not tested"); got != untested {
			t.Errorf("%d trials: %q", n, FlagText(summary.FlagFewTrials, &c))
		}
	}
}
