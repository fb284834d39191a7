package file

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/experiment/spelling"
)

// claim is one of claims.
type claim struct {
	section
	Says      literal                    `yaml:"says,required" doc:"The published statement, in words."`
	Published literal                    `yaml:"published" doc:"The published figures, in words."`
	Metric    fixed[claimMetric, string] `yaml:"metric,required" doc:"What the claim is about."`
	Of        selector                   `yaml:"of" doc:"The cell that the claim is about: service, and varied names with their values. It must mean one cell."`
	Over      selector                   `yaml:"over" doc:"The metric of the cell in of is divided by that of this cell."`
	Above     fixed[bound, float64]      `yaml:"above,one" doc:"The metric, or the ratio, lies above this; in the metric's unit."`
	Below     fixed[bound, float64]      `yaml:"below,one" doc:"The metric, or the ratio, lies below this; in the metric's unit."`
	Order     []selector                 `yaml:"order,one" doc:"Cells whose metric rises from one to the next."`
	Level     fixed[level, float64]      `yaml:"at" doc:"The level of a ramp, or of stages, at which the metric is taken: users, or requests a second. Default: the whole load."`
	CPUs      fixed[count, int64]        `yaml:"cpus" doc:"How many CPUs the host must have for the claim to be judged."`
}

// selector is the name of one cell: a flat map of service and varied names.
type selector struct {
	path     string
	at       place
	given    bool
	bad      bool // reported
	settings []named[literal]
}

func (s *selector) decode(d *decoder, n *node, at slot) {
	s.path, s.at = at.path, at.around
	if n == nil || n.kind == nullNode {
		return
	}
	s.at, s.given = n.at, true
	if n.kind != mapNode {
		s.bad = true
		d.problems.add(n.at, at.path, "want a map that names a cell, as in {service: go, procs: 1}, not %s", n.what())
		return
	}
	for _, e := range n.entries {
		one := named[literal]{name: e.key, at: e.at}
		one.value.decode(d, e.value, at.child(e.key))
		s.bad = s.bad || one.value.bad
		s.settings = append(s.settings, one)
	}
}

func (s *selector) below() shape { return (&mapping[varyName, literal]{}).below() }
func (s *selector) schema() *jsonschema.Schema {
	return orNull((&mapping[varyName, literal]{}).schema())
}

// claimMetric is what a claim is about.
type claimMetric struct{}

func (claimMetric) read(s string) (string, error) {
	if !slices.Contains(experiment.ClaimMetrics, s) {
		return "", fmt.Errorf("unknown metric %q; %s", s, spelling.Hint(s, "metrics", experiment.ClaimMetrics))
	}
	return s, nil
}
func (claimMetric) schema() *jsonschema.Schema {
	return syntaxOf("^(" + strings.Join(experiment.ClaimMetrics, "|") + ")$").schema("string")
}

// bound is a number that a metric is held against: not below 0.
type bound struct{}

const mostBound = 999_999_999_999_999

var boundSyntax = syntaxOf(`^[0-9]{1,15}(\.[0-9]{1,9})?$`)

func (bound) read(s string) (float64, error) {
	if _, err := time.ParseDuration(s); err == nil && s != "0" {
		return 0, fmt.Errorf("%q: a bound is a bare number in the unit of the metric; latencies are in milliseconds", s)
	}
	if !boundSyntax.MatchString(s) {
		return 0, fmt.Errorf("%q is no number from 0 on, as in 1.5", s)
	}
	return strconv.ParseFloat(s, 64)
}
func (bound) schema() *jsonschema.Schema { return numberOr("number", 0, mostBound, boundSyntax) }

// readClaims checks the claims against the cells, which are known by now.
func (r *reader) readClaims() {
	if len(r.doc.Claims) > 0 {
		r.readWritten()
	}
	for i := range r.doc.Claims {
		c := &r.doc.Claims[i]
		out := experiment.Claim{Says: strings.TrimSpace(c.Says.text), Published: strings.TrimSpace(c.Published.text), Metric: c.Metric.value, CPUs: int(c.CPUs.value)}
		if c.Says.given && out.Says == "" {
			r.problems.add(c.Says.at, "", "%s is empty", c.Says.path)
		}
		r.checkClaim(c)
		out.Of, out.Over = r.selected(&c.Of), r.selected(&c.Over)
		if c.Above.given {
			out.Above = &c.Above.value
		}
		if c.Below.given {
			out.Below = &c.Below.value
		}
		if c.Level.given && !c.Level.bad {
			out.At = &c.Level.value
		}
		for k := range c.Order {
			if one := r.selected(&c.Order[k]); one != nil {
				out.Order = append(out.Order, *one)
			}
		}
		r.checkTwice(c, &out)
		r.checkLevel(c, &out)
		out.Set = r.setFor(&out)
		r.out.Claims = append(r.out.Claims, out)
	}
}

// checkClaim finds parts of a claim that do not go together.
func (r *reader) checkClaim(c *claim) {
	bounded := c.Above.given || c.Below.given
	switch {
	case bounded && !c.Of.given && !r.misspelt:
		r.problems.add(c.at, "", "%s is missing; it names the cell that the claim is about, as in {service: %s}", c.Of.path, r.someService())
	case len(c.Order) > 0 && c.Of.given:
		r.problems.add(c.Of.at, c.Of.path, "an order names its cells itself; leave out of")
	case len(c.Order) > 0 && c.Over.given:
		r.problems.add(c.Over.at, c.Over.path, "an order names its cells itself; leave out over")
	case len(c.Order) == 1:
		r.problems.add(c.Order[0].at, c.Order[0].path, "one cell is no order; name two or more")
	}
	looked := r.doc.Load.searches() || r.doc.Load.course() != nil && r.doc.Objective.given
	if c.Metric.value == experiment.MetricBreakingPoint && !looked && !r.changed("load", "objective") {
		r.problems.add(c.Metric.at, c.Metric.path, "no breaking point is looked for; set load.find, or a ramp and an objective")
	}
}

// checkTwice finds a cell that a claim holds against itself.
func (r *reader) checkTwice(c *claim, out *experiment.Claim) {
	if out.Of != nil && out.Over != nil && out.Of.Cell == out.Over.Cell && out.Of.Cell != experiment.NoCell {
		r.problems.add(c.Over.at, "", "%s means the same cell as of, %s", c.Over.path, r.out.Cells[out.Of.Cell].Label())
	}
	if len(out.Order) != len(c.Order) {
		return // one of them was reported
	}
	for k := range out.Order {
		cell := out.Order[k].Cell
		if cell != experiment.NoCell && slices.ContainsFunc(out.Order[:k], func(s experiment.Selector) bool { return s.Cell == cell }) {
			r.problems.add(c.Order[k].at, "", "%s means %s, which stands in the order before", c.Order[k].path, r.out.Cells[cell].Label())
		}
	}
}

// checkLevel finds a claim about a level that the load of its cells does not
// hold. Where --set changed the load, that is no error of the file: the claim
// cannot be judged then.
func (r *reader) checkLevel(c *claim, out *experiment.Claim) {
	if out.At == nil {
		return
	}
	if slices.Contains(experiment.WholeMetrics, out.Metric) {
		r.problems.add(c.Level.at, c.Level.path, "%s is of the whole load, not of one level; leave out at", out.Metric)
		return
	}
	if r.changed("load", "vary") {
		return
	}
	for _, s := range out.Selectors() {
		if s.Cell == experiment.NoCell {
			continue
		}
		cell := &r.out.Cells[s.Cell]
		levels, times := cell.Load.Target().Levels(), 0
		for _, level := range levels {
			if level == *out.At {
				times++
			}
		}
		at := number64(*out.At)
		switch {
		case len(levels) == 0:
			r.problems.add(c.Level.at, c.Level.path, "the load of %s holds no levels, as a ramp does; leave out at", cell.Label())
		case times == 0:
			r.problems.add(c.Level.at, c.Level.path, "the load of %s holds no level of %s; its levels are %s", cell.Label(), at, numbers(levels))
		case times > 1:
			r.problems.add(c.Level.at, c.Level.path, "the load of %s holds %s %d times, and which is meant cannot be said; change one a little", cell.Label(), at, times)
		default:
			continue
		}
		return
	}
}

// numbers lists levels; of many the first and the last.
func numbers(levels []float64) string {
	var all []string
	for _, level := range levels {
		all = append(all, number64(level).String())
	}
	if n := len(all); n > manyLabels {
		return strings.Join(all[:manyLabels-1], ", ") + ", … " + all[n-1]
	}
	return strings.Join(all, ", ")
}

func (r *reader) someService() string {
	if entries := r.doc.Services.entries; len(entries) > 0 {
		return entries[0].name
	}
	return "go"
}

// changed reports whether a --set changes something below one of these keys.
func (r *reader) changed(keys ...string) bool {
	return slices.ContainsFunc(r.out.Sets, func(set string) bool {
		key, _, _ := strings.Cut(strings.TrimSpace(set), ".")
		key, _, _ = strings.Cut(key, "=")
		return slices.Contains(keys, strings.TrimSpace(key))
	})
}
