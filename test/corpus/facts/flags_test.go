package facts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/signals"
)

// anyTrial reports whether a trial of the cell has a property.
func (c *cell) anyTrial(of func(*part) bool) bool { return slices.ContainsFunc(c.each(), of) }

// need is an error if what a flag states is not so.
func need(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// flagged checks that what a warning is about is in the record. Its words are read for
// lower bounds only.
func flagged(k *check) error {
	c, p := k.about, sum(k.about.trials, nil)
	switch word := k.m["word"]; word {
	case "few_trials":
		return need(len(c.trials) < 6, "%d trials", len(c.trials))
	case "few_requests_for_p99":
		return need(c.Load.Find || c.all().requests() < 1000, "%d requests", c.all().requests())
	case "few_periods_for_p999":
		return need(c.Load.Find || p.periods < 1000, "%d periods", p.periods)
	case "moving_load":
		return need(len(c.staged()) > 1, "the load does not move")
	case "restarted":
		return need(p.restarts > 0, "no restart")
	case "oom_killed":
		return need(p.kills > 0, "no OOM kill")
	case "busy_neighbour":
		return k.disturbedBy("Other processes", []*cell{c})
	case "busy_hypervisor":
		return k.disturbedBy("The hypervisor", []*cell{c})
	case "search_disturbed":
		for _, h := range c.loads() {
			if len(disturbed(h.part)) > 0 {
				return nil
			}
		}
		return fmt.Errorf("no load was disturbed")
	case "cpu_stolen":
		return need(c.anyTrial(func(p *part) bool { return p.steal/p.hostSeconds >= 0.1 }), "no CPU was stolen")
	case "low_idle":
		return need(c.anyTrial(func(p *part) bool { return p.idle/p.hostSeconds < max(0.2, 0.05*float64(p.cpus)) }), "the host had idle CPU")
	case "generator_limited":
		err := need(c.Load.Find || c.anyTrial(late), "no trial sent late")
		if strings.Contains(k.whole, "ates are lower bounds") {
			err = first(err, lowerBound(k, c))
		}
		return err
	case "sent_late":
		return need(c.Load.Find || late(p) || c.anyTrial(late), "no trial sent late")
	case "trial_failed":
		for _, a := range k.attempts {
			if a.cell == c.Index && a.outcome == "failed" {
				return nil
			}
		}
		return fmt.Errorf("no trial failed")
	case "invalid_trial":
		for _, a := range k.attempts {
			if a.cell == c.Index && a.outcome == "invalid" {
				return nil
			}
		}
		return fmt.Errorf("no trial is invalid")
	case "requests_dropped":
		return need(p.dropped > 0, "no request was dropped")
	case "incomplete_trial":
		for _, t := range c.trials {
			if t.outcome != "done" && t.outcome != "disturbed" {
				return nil
			}
		}
		return fmt.Errorf("all trials are complete")
	case "skipped", "no_trials":
		return need(len(c.trials) == 0, "%d trials", len(c.trials))
	case "search_incomplete":
		for _, t := range c.trials {
			if !slices.ContainsFunc(t.steps, func(s signals.SearchStep) bool { return s.Stage == "test" && !s.Cut }) {
				return nil
			}
		}
		return nil // its answer is another one than it tested: see tested
	case "lower_bound":
		return nil
	case "unsteady":
		settled := 0
		for _, p := range c.each() {
			if late(p) || len(disturbed(p)) > 0 {
				settled++
			}
		}
		return need(2*settled < len(c.trials), "others or the generator may have changed the latency of %d of %d trials", settled, len(c.trials))
	case "down_at_end":
		return need(c.anyTrial(func(p *part) bool { return p.down }), "the service was up at the end of each trial")
	case "agent_stopped", "service_frozen":
		return fmt.Errorf("no case of the corpus has it")
	case "agent_waited", "agent_throttled", "agent_lost", "dependency_throttled", "dependency_restarted", "no_windows", "beyond_range", "no_ports":
		return fmt.Errorf("no case of the corpus has it")
	default:
		return fmt.Errorf("flag %q: %w", word, errUnknown)
	}
}

func late(p *part) bool {
	lag := float64(p.lag.Quantile(0.99)) / 1e6
	return lag >= 2 && lag >= 0.05*p.ms("p99")
}

var flags = []pattern{{"flag", `(?P<word>[a-z0-9_]+): <any:text>`, flagged}}

// Figures of the table of cells: the median over trials of a rate and a latency, and
// otherwise all trials together. Those of a search are of the windows that tested its
// answer, and have no check.
func inTable(what string, of func(*part) float64) func(*check) error {
	return func(k *check) error {
		if k.about.Load.Find || k.m["v"] == "–" || len(k.about.staged()) > 1 {
			return nil
		}
		return is(what, k.m["v"], of(k.about.all()))
	}
}

var tableCells = []pattern{
	{"table", `(?:service|v|cpu|mode|objective|knee|limited by|slow tail|breaks at) [^:]*: <any:v>`, nil},
	{"table", `requests /s: (?P<v>[\d,.–]+)(?: \[.*\])?`, func(k *check) error {
		if k.about.Load.Find || k.m["v"] == "–" || len(k.about.staged()) > 1 {
			return nil
		}
		return k.about.shows("rate", k.m["v"])
	}},
	{"table try-table", `(?P<q>p[\d.]+) ms: (?P<few>~)?(?P<v>≥?[\d,.–]+)(?: \[95% interval (?P<low>[\d.,]+)–(?P<high>[\d.,]+)\]| \[.*\])?`, func(k *check) error {
		if k.about.Load.Find || k.m["v"] == "–" || len(k.about.staged()) > 1 {
			return nil
		}
		err := k.about.shows(k.m["q"], k.m["v"])
		if few := float64(k.about.all().requests())*(1-shareOf(k.m["q"])) < 10-1e-6; few != k.has("few") && k.m["q"] != "p99.9" {
			err = first(err, fmt.Errorf("%d requests, and the mark of few is %q", k.about.all().requests(), k.m["few"]))
		}
		if low, high, ok := medianEnds(k.about.values(quantileOf(k.m["q"]))); ok && k.has("low") && !k.about.Load.Find {
			err = first(err, is("the lower end", k.m["low"], low), is("the higher end", k.m["high"], high))
		}
		return err
	}},
	{"table", `available %: (?P<v>[\d,.–]+)`, func(k *check) error {
		if k.about.Load.Find || k.m["v"] == "–" {
			return nil
		}
		return available(k.m["v"], k.about.all().availability())
	}},
	{"table", `CPU % of limit: (?P<v>[<>\d,.–]+)(?: \[.*\])?`, inTable("CPU of the limit", usedOfLimit)},
	{"table", `throttled % of periods: (?P<v>[<>\d,.–]+)(?: \[periods <n:throttled> of <n:periods>\])?`, func(k *check) error {
		err := inTable("throttled periods", throttledOf)(k)
		if k.has("periods") && !k.about.Load.Find && len(k.about.staged()) == 0 {
			p := k.about.all()
			err = first(err, is("throttled periods", k.m["throttled"], float64(p.throttled)), is("periods", k.m["periods"], float64(p.periods)))
		}
		return err
	}},
	{"table", `memory peak MiB: (?P<v>[\d,.–]+)(?: \[.*\])?`, inTable("memory", func(p *part) float64 { return float64(p.memory) / (1 << 20) })},
}
