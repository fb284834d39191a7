// Package file reads experiment files: YAML with positions, the values of --set,
// and all checks of an experiment. It also writes experiments and their JSON
// Schema. It starts nothing: every mistake is found before a service is started.
package file

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/experiment/spelling"
)

const (
	mostCells   = 1000
	mostTrials  = 10_000
	mostRepeats = 1000
)

// Parse reads an experiment file and resolves it into cells. Sets are the texts
// of --set, as in "limits.cpu=250m"; they change the file before it is checked.
// file names it in errors and gives the folder that dir is relative to. The
// error is of the type Errors and holds all that is wrong.
func Parse(file string, data []byte, sets []string) (*experiment.Experiment, error) {
	p := &problems{file: file}
	root := readTree(p, 0, data)
	if root == nil {
		return nil, p.err()
	}
	switch root.kind {
	case nullNode:
		p.add(root.at, "", "the file is empty; an experiment has a name, services and a load")
		return nil, p.err()
	case mapNode:
	default:
		p.add(root.at, "", "the file is %s; an experiment is a map that begins with name, services and load", root.what())
		return nil, p.err()
	}
	return resolve(p, root, string(data), sets)
}

// resolve makes an experiment of a tree and of what --set changes in it. source
// is the tree as text.
func resolve(p *problems, root *node, source string, sets []string) (*experiment.Experiment, error) {
	spellDatabases(root)
	applySets(p, root, sets)
	spellDatabases(root)
	root.locate("")
	d := &decoder{
		problems:  p,
		folder:    filepath.Dir(p.file),
		root:      root,
		out:       &experiment.Experiment{Source: source, Sets: sets},
		searching: root.find("load.find").given(),
		// A word that is neither true nor false is reported later.
		benchmark: root.find("load.benchmark").given() && root.find("load.benchmark").text != "false",
	}
	d.read()
	if err := p.err(); err != nil {
		return nil, err
	}
	return d.out, nil
}

// read reads the file as a whole, and then its cells.
func (d *decoder) read() {
	doc := &d.doc
	d.structure(d.root, &field{names: noNames}, reflect.ValueOf(doc).Elem())
	d.out.Name, d.out.About, d.out.Profile = doc.Name, doc.About, doc.Profile
	d.out.Docker, d.out.Kubernetes, d.out.Measure = doc.Docker, doc.Kubernetes, doc.Measure
	d.checkServices()
	d.readVary()
	d.checkReferences()
	d.checkTolerations()
	d.checkBounds()
	d.readObjective()
	d.checkSearch()
	d.checkBenchmark()
	if d.countCells() {
		d.readCells()
		d.checkMeasure()
		d.readClaims()
	}
}

// readVary checks the axes and puts them into the experiment.
func (d *decoder) readVary() {
	for _, one := range d.doc.Vary {
		if len(one.node.items) == 0 && !one.node.bad {
			d.add(one.at, "", "vary.%s has no values; write them as a list, as in [1, 2, null]", one.name)
		}
		seen := make(map[varyValue]place)
		for _, n := range one.node.items {
			d.checkValue(one.name, n)
			value := varyValue{text: n.text, null: !n.given()}
			if before, twice := seen[value]; twice && !n.bad {
				d.add(n.at, n.path, "duplicate value %s; the first is at %s", value, before)
			}
			seen[value] = n.at
		}
		d.out.Vary = append(d.out.Vary, experiment.Axis{Name: one.name, Values: one.value})
	}
}

// checkValue refuses a value that could not be put into every text.
func (d *decoder) checkValue(name string, n *node) {
	switch {
	case strings.ContainsRune(n.text, 0):
		d.add(n.at, n.path, "%q contains a zero byte, which cannot be passed to a program", n.text)
	case strings.Contains(n.text, "${") || strings.HasSuffix(n.text, "$"):
		d.add(n.at, n.path, "%q contains ${ or ends in $, but names in a value are not replaced; write it in the place of ${%s}", n.text, name)
	}
}

// reference is one ${name} in the file.
type reference struct {
	name string
	node *node // the text that holds it
	late bool  // stands where the platform's names are known too
}

// usedBy reports whether a service's cells depend on the reference: its own
// fields, and those under load and limits, which all services share, but for
// the limits that it has its own of.
func (r reference) usedBy(s *named[service]) bool {
	if key, ok := strings.CutPrefix(r.node.path, "limits."); ok {
		return s.node.child("limits").child(key).absent
	}
	return strings.HasPrefix(r.node.path, "load.") || strings.HasPrefix(r.node.path, s.node.path+".")
}

// checkReferences finds names that nothing defines, outside the texts that the
// platform expands (see checkLate), and varied names that nothing uses.
func (d *decoder) checkReferences() {
	names := d.varied()
	for _, ref := range d.references {
		switch {
		case ref.late || slices.Contains(names, ref.name):
		case ref.name == "port" || strings.Contains(ref.name, "."):
			d.add(ref.node.at, ref.node.path, "${%s} is known only in command and env", ref.name)
		default:
			d.add(ref.node.at, ref.node.path, "unknown name ${%s}; %s", ref.name, spelling.Hint(ref.name, "varied names", names))
		}
	}
	if d.misspelt {
		return // the use may stand under the key that is not known
	}
	for _, axis := range d.doc.Vary {
		used := slices.ContainsFunc(d.references, func(ref reference) bool {
			return ref.name == axis.name && !d.overruled(ref)
		})
		if !used {
			d.add(axis.at, "", "vary.%s is not used; write ${%s} under env, command, actions, limits or load, or leave it out", axis.name, axis.name)
		}
	}
}

// overruled reports whether every service has its own limit instead of the one
// that the reference is in.
func (d *decoder) overruled(ref reference) bool {
	return strings.HasPrefix(ref.node.path, "limits.") && len(d.doc.Services) > 0 &&
		!slices.ContainsFunc(d.doc.Services, func(s named[service]) bool { return ref.usedBy(&s) })
}

// varied are the names in vary.
func (d *decoder) varied() []string {
	var names []string
	for _, axis := range d.doc.Vary {
		names = append(names, axis.name)
	}
	return names
}

// axesOf are the axes that a service's cells run along.
func (d *decoder) axesOf(s *named[service]) []named[[]*string] {
	var all []named[[]*string]
	for _, one := range d.doc.Vary {
		used := slices.ContainsFunc(d.references, func(ref reference) bool {
			return ref.name == one.name && ref.usedBy(s)
		})
		if used && len(one.node.items) > 0 {
			all = append(all, one)
		}
	}
	return all
}

// countCells refuses an experiment with too many cells or trials.
func (d *decoder) countCells() bool {
	cells := 0
	for i := range d.doc.Services {
		product := 1
		for _, axis := range d.axesOf(&d.doc.Services[i]) {
			product *= len(axis.node.items)
			if product > mostCells {
				break
			}
		}
		if cells += product; cells > mostCells {
			d.add(d.root.child("vary").at, "", "more than %d cells; vary fewer values", mostCells)
			return false
		}
	}
	if repeats := d.out.Measure.Repeats; cells*repeats > mostTrials {
		d.add(d.root.find("measure.repeats").at, "", "%d cells with %d repeats are more than %d trials; use fewer values or repeats", cells, repeats, mostTrials)
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
