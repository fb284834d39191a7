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
	applySets(p, root, sets)
	r := &reader{
		decoder: decoder{problems: p},
		folder:  filepath.Dir(p.file),
		out:     &experiment.Experiment{Source: source, Sets: sets},
	}
	r.read(root)
	if err := p.err(); err != nil {
		return nil, err
	}
	return r.out, nil
}

// reader makes an Experiment of a file's nodes.
type reader struct {
	decoder
	doc    document
	folder string
	out    *experiment.Experiment
	wrote  *written // what claims mean; nil: what is set is what is written
}

func (r *reader) read(root *node) {
	r.searching, r.benchmark = searches(root), measuresItself(root)
	r.structure(root, slot{around: root.at}, reflect.ValueOf(&r.doc).Elem())
	r.out.Name, r.out.About, r.out.Profile = r.doc.Name.value, r.doc.About.text, r.doc.Profile.value
	r.checkServices(r.doc.Services.entries)
	r.readVary()
	r.checkReferences()
	r.out.Docker.HostNetwork = r.doc.Docker.Network.value == "host"
	r.readKubernetes()
	r.readMeasure()
	r.readObjective()
	r.checkSearch()
	r.checkBenchmark()
	r.checkScaling()
	if r.countCells() {
		r.readCells()
		r.checkMeasure()
		r.readClaims()
	}
}

// readVary checks the axes and puts them into the experiment.
func (r *reader) readVary() {
	for _, one := range r.doc.Vary.entries {
		if len(one.value.values) == 0 && !one.value.bad {
			r.problems.add(one.at, "", "vary.%s has no values; write them as a list, as in [1, 2, null]", one.name)
		}
		out := experiment.Axis{Name: one.name}
		seen := make(map[varyValue]place)
		for i := range one.value.values {
			v := &one.value.values[i]
			r.checkValue(one.name, v)
			value := varyValue{text: v.text, null: !v.given}
			if before, twice := seen[value]; twice && !v.bad {
				r.problems.add(v.at, v.path, "%s stands here a second time; the first is at %s", value, before)
			}
			seen[value] = v.at
			if v.given {
				out.Values = append(out.Values, &v.text)
			} else {
				out.Values = append(out.Values, nil)
			}
		}
		r.out.Vary = append(r.out.Vary, out)
	}
}

// checkValue refuses a value that could not be put into every text.
func (r *reader) checkValue(name string, v *literal) {
	switch {
	case strings.ContainsRune(v.text, 0):
		r.problems.add(v.at, v.path, "%q holds a zero byte, which no program can be given", v.text)
	case strings.Contains(v.text, "${") || strings.HasSuffix(v.text, "$"):
		r.problems.add(v.at, v.path, "%q holds ${ or ends in $, and a value is not replaced again; write that where ${%s} stands", v.text, name)
	}
}

// checkReferences finds names that nothing defines, outside the texts that the
// platform expands (see cellReader.launched), and varied names that nothing uses.
func (r *reader) checkReferences() {
	names := r.varied()
	for _, ref := range r.references {
		switch {
		case ref.late || slices.Contains(names, ref.name):
		case ref.name == "port" || strings.Contains(ref.name, "."):
			r.problems.add(ref.at, ref.path, "${%s} is known only in command and env", ref.name)
		default:
			r.problems.add(ref.at, ref.path, "unknown name ${%s}; %s", ref.name, spelling.Hint(ref.name, "varied names", names))
		}
	}
	if r.misspelt {
		return // the use may stand under the key that is not known
	}
	for _, axis := range r.doc.Vary.entries {
		used := slices.ContainsFunc(r.references, func(ref reference) bool {
			return ref.name == axis.name && !r.overruled(ref)
		})
		if !used {
			r.problems.add(axis.at, "", "vary.%s is not used; write ${%s} under env, command, actions, limits or load, or leave it out", axis.name, axis.name)
		}
	}
}

// overruled reports whether every service has its own limit instead of the one
// that the reference is in.
func (r *reader) overruled(ref reference) bool {
	services := r.doc.Services.entries
	return strings.HasPrefix(ref.path, "limits.") && len(services) > 0 &&
		!slices.ContainsFunc(services, func(s named[service]) bool { return ref.usedBy(&s) })
}

// varied are the names in vary.
func (r *reader) varied() []string {
	var names []string
	for _, axis := range r.doc.Vary.entries {
		names = append(names, axis.name)
	}
	return names
}

// axesOf are the axes that a service's cells run along.
func (r *reader) axesOf(s *named[service]) []named[axis] {
	var all []named[axis]
	for _, one := range r.doc.Vary.entries {
		used := slices.ContainsFunc(r.references, func(ref reference) bool {
			return ref.name == one.name && ref.usedBy(s)
		})
		if used && len(one.value.values) > 0 {
			all = append(all, one)
		}
	}
	return all
}

// countCells refuses an experiment with too many cells or trials.
func (r *reader) countCells() bool {
	cells := 0
	for i := range r.doc.Services.entries {
		product := 1
		for _, axis := range r.axesOf(&r.doc.Services.entries[i]) {
			product *= len(axis.value.values)
			if product > mostCells {
				break
			}
		}
		if cells += product; cells > mostCells {
			r.problems.add(r.doc.Vary.at, "", "more than %d cells; vary less at a time", mostCells)
			return false
		}
	}
	if repeats := r.out.Measure.Repeats; cells*repeats > mostTrials {
		r.problems.add(r.doc.Measure.Repeats.at, "", "%d cells with %d repeats are more than %d trials; vary less, or repeat less", cells, repeats, mostTrials)
	}
	return true
}

// readCells resolves every combination, service by service, the last axis of
// vary moving fastest.
func (r *reader) readCells() {
	for i := range r.doc.Services.entries {
		s := &r.doc.Services.entries[i]
		axes := r.axesOf(s)
		for at := make([]int, len(axes)); ; {
			r.out.Cells = append(r.out.Cells, r.readCell(s, axes, at))
			k := len(axes) - 1
			for ; k >= 0; k-- {
				if at[k]++; at[k] < len(axes[k].value.values) {
					break
				}
				at[k] = 0
			}
			if k < 0 {
				break
			}
		}
	}
}

// readCell resolves one combination: at holds the index of each axis' value.
func (r *reader) readCell(s *named[service], axes []named[axis], at []int) experiment.Cell {
	cell := experiment.Cell{Index: len(r.out.Cells)}
	c := &cellReader{problems: r.problems, names: r.varied(), values: make(map[string]varyValue)}
	if !r.doc.Measure.Interval.bad {
		c.interval = r.out.Measure.Interval
	}
	for k, axis := range axes {
		v := &axis.value.values[at[k]]
		c.values[axis.name] = varyValue{text: v.text, null: !v.given && !v.bad, bad: v.bad, at: v.at}
		setting := experiment.Setting{Name: axis.name}
		if v.given {
			setting.Value = &v.text
		}
		cell.Vary = append(cell.Vary, setting)
	}
	own := s.value.Limits.over(&r.doc.Limits)
	cell.Limits = c.readLimits(&own)
	c.limits = c.limitsHere(&cell.Limits)
	cell.Service = c.readService(s.name, &s.value, r.folder)
	requests := &r.doc.Kubernetes.Requests
	c.checkRequests(requests, &own, &cell.Limits)
	cell.Service.Autoscale = c.readAutoscale(&s.value, &own, requests, &cell.Limits)
	c.checkPort(&s.value, &own, cell.MostReplicas())
	if r.benchmark {
		c.checkOne(&own, cell.Limits.Replicas)
		cell.Load.Benchmark = true
		return cell
	}
	cell.Load = c.readLoad(&r.doc.Load)
	if cell.Load.Target() != nil && !c.failed {
		c.checkActions(&s.value, &cell, r.out.Measure)
	}
	return cell
}
