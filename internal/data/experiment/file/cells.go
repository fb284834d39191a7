package file

import "github.com/millicore/millicore/internal/data/experiment"

// countCells refuses an experiment with too many cells or trials.
func (d *decoder) countCells() bool {
	cells := 0
	for i := range d.doc.Services {
		product := 1
		for _, axis := range d.axesOf(&d.doc.Services[i]) {
			product *= len(axis.node.items)
			if product > experiment.MostCells {
				break
			}
		}
		if cells += product; cells > experiment.MostCells {
			d.add(d.root.child("vary").at, "", "more than %d cells; vary fewer values", experiment.MostCells)
			return false
		}
	}
	if repeats := d.out.Measure.Repeats; cells*repeats > experiment.MostTrials {
		d.add(d.root.find("measure.repeats").at, "", "%d cells with %d repeats are more than %d trials; use fewer values or repeats", cells, repeats, experiment.MostTrials)
	}
	return true
}

// readCells reads every combination, service by service, the last axis of vary
// moving fastest.
func (d *decoder) readCells() {
	for i := range d.doc.Services {
		s := &d.doc.Services[i]
		axes := d.axesOf(s)
		for at := make([]int, len(axes)); ; {
			d.out.Cells = append(d.out.Cells, d.readCell(s, axes, at))
			k := len(axes) - 1
			for ; k >= 0; k-- {
				if at[k]++; at[k] < len(axes[k].node.items) {
					break
				}
				at[k] = 0
			}
			if k < 0 {
				break
			}
		}
	}
	d.cell = nil
}

// readCell reads one combination: at holds the index of each axis' value.
func (d *decoder) readCell(s *named[service], axes []named[[]*string], at []int) experiment.Cell {
	cell := experiment.Cell{Index: len(d.out.Cells)}
	d.cell = &combination{names: d.varied(), values: make(map[string]varyValue)}
	if !d.root.find("measure.interval").bad {
		d.cell.interval = d.out.Measure.Interval
	}
	for k, axis := range axes {
		n := axis.node.items[at[k]]
		d.cell.values[axis.name] = varyValue{text: n.text, null: !n.given(), bad: n.bad, at: n.at}
		setting := experiment.Setting{Name: axis.name}
		if n.kind == scalarNode {
			setting.Value = &n.text
		}
		cell.Vary = append(cell.Vary, setting)
	}
	limits := limitsOf(s.node, d.root)
	cell.Limits = d.readLimits(limits)
	cell.Service = d.readService(s, &cell.Limits, !d.failed)
	d.checkRequests(limits, &cell.Limits)
	d.checkAutoscale(&cell, s.node, limits)
	d.checkPort(s.node, limits, cell.MostReplicas())
	if d.benchmark {
		if cell.Limits.Replicas > 1 {
			d.wrong(limits.child("replicas"), "a benchmark has one replica, not %d", cell.Limits.Replicas)
		}
		cell.Load.Benchmark = true
		return cell
	}
	cell.Load = d.readLoad(d.root.child("load"))
	if d.failed || cell.Load.Target() == nil {
		d.unsure = true
		return cell
	}
	d.checkActions(s.node, &cell)
	return cell
}
