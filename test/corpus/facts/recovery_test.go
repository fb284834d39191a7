package facts

import (
	"fmt"
	"math"
	"strings"

	"github.com/millicore/millicore/internal/signals"
)

// stepsAt are the steps of a stage of a cell's searches at a stated load, with their
// trials; an empty load is any.
func (c *cell) stepsAt(stage, load string) (trials []*trial, steps []*signals.SearchStep) {
	v, half := 0.0, 0.0
	if load != "" {
		v, half, _ = figure(load)
	}
	for _, t := range c.trials {
		for i := range t.steps {
			s := &t.steps[i]
			if s.Stage == stage && (load == "" || math.Abs(s.Load-v) <= half+0.0005*v) {
				trials, steps = append(trials, t), append(steps, s)
			}
		}
	}
	return trials, steps
}

// sustained checks that a load was held, or not, without draining.
func sustained(k *check) error {
	trials, steps := k.about.stepsAt("sustain", k.m["load"])
	for i, s := range steps {
		if met, known := window(trials[i], s).meets(k.about.objective); known && met != k.has("not") {
			return nil
		}
	}
	return fmt.Errorf("%d steps sustain %s, none with that outcome", len(steps), k.m["load"])
}

// recovers checks what followed an overload: the loads that met the objective again, and
// those that missed it.
func recovers(k *check) error {
	if k.has("over") {
		_, steps := k.about.stepsAt("overload", k.m["over"])
		_, sustain := k.about.stepsAt("sustain", k.m["over"]) // one that it did not hold is an overload
		if len(steps)+len(sustain) == 0 {
			return fmt.Errorf("no overload of %s", k.m["over"])
		}
	}
	var seen []string
	for _, t := range k.about.trials {
		met, missed := 0.0, math.Inf(1) // the highest load that met the objective, the lowest that never did
		tries := map[float64]bool{}
		for i := range t.steps {
			if s := &t.steps[i]; s.Stage == "descend" {
				is, known := window(t, s).meets(k.about.objective)
				tries[s.Load] = tries[s.Load] || known && is
			}
		}
		for load, is := range tries {
			if is {
				met = max(met, load)
			} else {
				missed = min(missed, load)
			}
		}
		near := func(name string, v float64) bool {
			return !k.has(name) || is("", k.m[name], v) == nil || math.Abs(mustFigure(k.m[name])-v) < 0.001*v
		}
		if len(tries) > 0 && near("at", met) && near("missed", missed) && (!strings.Contains(k.whole, "the first load tried") || math.IsInf(missed, 1)) {
			return k.recoversByConstruction()
		}
		seen = append(seen, fmt.Sprintf("met %.4g, missed %.4g", met, missed))
	}
	return fmt.Errorf("no search has that: %s", strings.Join(seen, "; "))
}

func mustFigure(text string) float64 {
	v, _, _ := figure(text)
	return v
}

// recoversByConstruction checks that a claim of hysteresis is about a service that has it.
func (k *check) recoversByConstruction() error {
	if k.has("provision") && !k.truth.metastable {
		return fmt.Errorf("by construction it recovers at once")
	}
	return nil
}

// inSearches checks "2 of 6 searches".
func (k *check) inSearches() error {
	if !k.has("of") {
		return nil
	}
	trials := 0
	for _, t := range k.about.trials {
		if len(t.steps) > 0 {
			trials++
		}
	}
	return first(within("the searches", k.m["of"], 1, float64(trials)), within("those with hysteresis", k.m["some"], 1, float64(trials)))
}

const searchesOf = `(?: \((?P<some>\d+) of (?P<of>\d+) searches\))?`

var recovering = []pattern{
	{"fact", `(?:recovery: )?(?P<not>did not hold|held) <n:load> <unit> without draining`, func(k *check) error {
		if k.m["not"] == "held" {
			delete(k.m, "not")
		}
		return sustained(k)
	}},
	{"fact", `(?:recovery: )?no clear result at <n:load> <unit> without draining`, func(k *check) error {
		trials, steps := k.about.stepsAt("sustain", k.m["load"])
		for i, s := range steps {
			if met, known := window(trials[i], s).meets(k.about.objective); !known || !met {
				return nil
			}
		}
		return fmt.Errorf("%d steps sustain %s, and all met the objective", len(steps), k.m["load"])
	}},
	{"fact", `(?:recovery: )?after <n:over> <unit> it met the objective again at <n:at>, the first load tried` + searchesOf, func(k *check) error { return first(recovers(k), k.inSearches()) }},
	{"fact", `(?:recovery: )?after <n:over> <unit> it missed the objective down to <n:missed>, and met it again at <n:at>` + searchesOf, func(k *check) error { return first(recovers(k), k.inSearches()) }},
	{"fact", `(?:recovery: )?after <n:over> <unit> it missed the objective down to <n:missed>, the lowest load tried` + searchesOf, func(k *check) error { return first(recovers(k), k.inSearches()) }},
	{"headline", `(?:<cell>: )?after an overload it recovers only at <n:at> <unit> and below: provision for <n:provision>`, func(k *check) error {
		if k.m["at"] != k.m["provision"] {
			return fmt.Errorf("provision for %s, but it recovers at %s", k.m["provision"], k.m["at"])
		}
		return recovers(k)
	}},
	{"headline", `(?:<cell>: )?after an overload it did not recover down to <n:missed> <unit>, the lowest load tried`, recovers},
	{"fact", `(?:recovery: )?not measured after an overload: (?P<why>no load was seen to break the service|the service became unavailable during the search|<any:other>)` + searchesOf, func(k *check) error {
		switch k.m["why"] {
		case "no load was seen to break the service":
			if b := k.summary.Cells[k.about.Index].Breaking; b != nil && b.AtLeast {
				return nil // what it missed was not its own
			}
			for _, h := range k.about.loads() {
				if met, known := h.meets(k.about.objective); known && !met && h.stage == "test" {
					return fmt.Errorf("%.4g missed the objective in a test window", h.load)
				}
			}
		case "the service became unavailable during the search":
			for _, t := range k.about.trials {
				for i := range t.steps {
					s := &t.steps[i]
					if met, _ := window(t, s).meets(k.about.objective); s.Gone != "" || s.Stage == "recover" && !met {
						return nil
					}
				}
			}
			return fmt.Errorf("it did not become unavailable")
		}
		return nil
	}},
	{"headline fact", `(?:The estimate is untested|tested): no test window met the objective`, func(k *check) error {
		for _, h := range k.about.loads() {
			if met, _ := h.meets(k.about.objective); met && h.stage == "test" {
				return fmt.Errorf("a test window at %.4g met it", h.load)
			}
		}
		return nil
	}},
	{"headline fact", `it missed the objective at <n:missed>(?: \(the answer is untested\))?`, func(k *check) error { return k.windowAt(k.m["missed"], "", "", false) }},
	{"headline", `Untested, as no test window near it met the objective: <cells>`, func(k *check) error {
		for _, c := range k.cells(k.m["cells"]) {
			point := k.summary.Cells[c.Index].Breaking.Load()
			for _, h := range c.loads() {
				if met, _ := h.meets(c.objective); met && h.stage == "test" && len(c.trials) == 1 && h.load >= *point {
					return fmt.Errorf("a test window of %s at %.4g met it, and it breaks at %.4g", c.label(), h.load, *point)
				}
			}
		}
		return nil
	}},
}

// availableAt checks the availability of the windows at a load that tested it, or of all
// there. Several loads may be written alike.
func (k *check) availableAt(load, stated string) error {
	v, half, err := figure(load)
	if err != nil {
		return err
	}
	tests, all := map[float64]*part{}, map[float64]*part{}
	add := func(to map[float64]*part, h held) {
		if to[h.load] == nil {
			to[h.load] = newPart()
		}
		to[h.load].merge(h.part)
	}
	for _, h := range k.about.loads() {
		if math.Abs(h.load-v) > half+0.001*v {
			continue
		}
		if add(all, h); h.stage == "test" {
			add(tests, h)
		}
	}
	err = fmt.Errorf("no window at %s", load)
	for _, some := range []map[float64]*part{tests, all} {
		for _, p := range some {
			if err = is("availability", stated, p.availability()); err == nil {
				return nil
			}
		}
	}
	return err
}
