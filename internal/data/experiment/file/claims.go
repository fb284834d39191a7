package file

import (
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/data/experiment"
)

// selector reads the name of one cell: a flat map of service and varied names.
func (d *decoder) selector(n *node, to *experiment.Selector) bool {
	to.Cell = experiment.NoCell
	if !n.given() {
		return true
	}
	if n.kind != mapNode {
		d.wants(n, "a map that names a cell, as in {service: go, procs: 1}")
		return true // it keeps its place in an order
	}
	for _, e := range n.entries {
		switch {
		case e.value.kind != scalarNode && e.value.given():
			d.wants(e.value, "a single value")
			n.bad = true
		case e.key == "service":
			to.Service = e.value.text
		default:
			if to.Vary == nil {
				to.Vary = make(map[string]*string)
			}
			to.Vary[e.key] = nil
			if e.value.given() {
				to.Vary[e.key] = &e.value.text
			}
		}
	}
	return true
}

// readClaims checks the claims against the cells, which are known by now.
func (d *decoder) readClaims() {
	claims, items := d.doc.Claims, d.root.child("claims").items
	if len(claims) > 0 {
		d.readWritten()
	}
	for i := range claims {
		if len(items) != len(claims) {
			return // one of them is no map, which was reported
		}
		c, n := &claims[i], items[i]
		c.Says, c.Published = strings.TrimSpace(c.Says), strings.TrimSpace(c.Published)
		if says := n.child("says"); says.given() && c.Says == "" {
			d.add(says.at, "", "%s is empty", says.path)
		}
		d.checkClaim(c, n)
		d.selected(c.Of, n.child("of"))
		d.selected(c.Over, n.child("over"))
		for k := range c.Order {
			d.selected(&c.Order[k], n.child("order").items[k])
		}
		d.checkTwice(c, n)
		d.checkClaimLevel(c, n.child("at"))
		c.Set = d.setFor(c)
	}
	d.out.Claims = claims
}

// checkClaim finds parts of a claim that contradict one another.
func (d *decoder) checkClaim(c *experiment.Claim, n *node) {
	bounded := n.child("above").given() || n.child("below").given()
	of, over, order := n.child("of"), n.child("over"), n.child("order")
	switch {
	case bounded && !of.given() && !d.misspelt:
		d.add(n.at, "", "%s is missing; it selects the cell of the claim, as in {service: %s}", of.path, d.someService())
	case len(c.Order) > 0 && of.given():
		d.report(of, "order selects the cells; leave out of")
	case len(c.Order) > 0 && over.given():
		d.report(over, "order selects the cells; leave out over")
	case len(c.Order) == 1:
		d.report(order.items[0], "an order needs two or more cells")
	}
	load := d.root.child("load")
	looked := d.doc.Load.Find || !courseOf(load).absent && d.root.child("objective").given()
	if metric := n.child("metric"); c.Metric == experiment.MetricBreakingPoint && !looked && !d.changed("load", "objective") {
		d.report(metric, "this experiment measures no breaking point; set load.find, or a ramp and an objective")
	}
}

// checkTwice finds a cell that a claim compares with itself.
func (d *decoder) checkTwice(c *experiment.Claim, n *node) {
	if over := n.child("over"); c.Of != nil && c.Over != nil && c.Of.Cell == c.Over.Cell && c.Of.Cell != experiment.NoCell {
		d.add(over.at, "", "%s selects the same cell as of, %s", over.path, d.out.Cells[c.Of.Cell].Label())
	}
	for k := range c.Order {
		cell, one := c.Order[k].Cell, n.child("order").items[k]
		if cell != experiment.NoCell && slices.ContainsFunc(c.Order[:k], func(s experiment.Selector) bool { return s.Cell == cell }) {
			d.add(one.at, "", "%s selects %s, which is already in the order", one.path, d.out.Cells[cell].Label())
		}
	}
}

// checkClaimLevel finds a claim about a level that the load of its cells does not
// hold. If --set changed the load, this is not an error of the file: the claim cannot
// be judged then.
func (d *decoder) checkClaimLevel(c *experiment.Claim, n *node) {
	if c.At == nil || n.bad {
		return
	}
	if slices.Contains(experiment.WholeMetrics, c.Metric) {
		d.report(n, "%s is a metric of the whole load, not of one level; leave at out", c.Metric)
		return
	}
	if d.unsure || d.changed("load", "vary") {
		return
	}
	for _, s := range c.Selectors() {
		if s.Cell == experiment.NoCell {
			continue
		}
		cell := &d.out.Cells[s.Cell]
		levels, times := cell.Load.Target().Levels(), 0
		for _, level := range levels {
			if level == *c.At {
				times++
			}
		}
		at := number64(*c.At)
		switch {
		case len(levels) == 0:
			d.report(n, "the load of %s holds no levels; leave at out", cell.Label())
		case times == 0:
			d.report(n, "the load of %s holds no level of %s; its levels are %s", cell.Label(), at, numbers(levels))
		case times > 1:
			d.report(n, "the load of %s holds %s %d times, so that at is ambiguous; change one of these levels slightly", cell.Label(), at, times)
		default:
			continue
		}
		return
	}
}

// numbers lists levels; if there are many, the first ones and the last.
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

func (d *decoder) someService() string {
	if len(d.doc.Services) > 0 {
		return d.doc.Services[0].name
	}
	return "go"
}

// changed reports whether a --set changes something below one of these keys.
func (d *decoder) changed(keys ...string) bool {
	return slices.ContainsFunc(d.out.Sets, func(set string) bool {
		key, _, _ := strings.Cut(strings.TrimSpace(set), ".")
		key, _, _ = strings.Cut(key, "=")
		return slices.Contains(keys, strings.TrimSpace(key))
	})
}
