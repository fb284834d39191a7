package experiment

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
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
func Parse(file string, data []byte, sets []string) (*Experiment, error) {
	p := &problems{file: file, sets: sets}
	root := readTree(p, 0, data)
	if root == nil {
		return nil, p.err()
	}
	switch root.kind {
	case nullNode:
		p.add(root.at, "the file is empty; an experiment has a name, services and a load")
		return nil, p.err()
	case mapNode:
	default:
		p.add(root.at, "the file is %s; an experiment is a map that begins with name, services and load", root.what())
		return nil, p.err()
	}
	applySets(p, root, sets)
	r := &reader{
		decoder: decoder{problems: p},
		folder:  filepath.Dir(file),
		out:     &Experiment{Source: string(data), Sets: sets},
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
	file   file
	folder string
	out    *Experiment
	wrote  *written // what claims mean; nil: what is set is what is written
}

func (r *reader) read(root *node) {
	r.searching, r.benchmark = searches(root), measuresItself(root)
	r.structure(root, slot{around: root.at}, reflect.ValueOf(&r.file).Elem())
	r.out.Name, r.out.About, r.out.Profile = r.file.Name.value, r.file.About.text, r.file.Profile.value
	r.checkServices(r.file.Services.entries)
	r.readVary()
	r.checkReferences()
	r.out.Docker.HostNetwork = r.file.Docker.Network.value
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
	for _, one := range r.file.Vary.entries {
		if len(one.value.values) == 0 && !one.value.bad {
			r.problems.add(one.at, "vary.%s has no values; write them as a list, as in [1, 2, null]", one.name)
		}
		out := Axis{Name: one.name}
		seen := make(map[varyValue]place)
		for i := range one.value.values {
			v := &one.value.values[i]
			r.checkValue(one.name, v)
			value := varyValue{text: v.text, null: !v.given}
			if before, twice := seen[value]; twice && !v.bad {
				r.problems.add(v.at, "%s: %s stands here a second time; the first is at %s", v.path, value, before)
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
		r.problems.add(v.at, "%s: %q holds a zero byte, which no program can be given", v.path, v.text)
	case strings.Contains(v.text, "${") || strings.HasSuffix(v.text, "$"):
		r.problems.add(v.at, "%s: %q holds ${ or ends in $, and a value is not replaced again; write that where ${%s} stands", v.path, v.text, name)
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
			r.problems.add(ref.at, "%s: ${%s} is known only in command and env", ref.path, ref.name)
		default:
			r.problems.add(ref.at, "%s: unknown name ${%s}; %s", ref.path, ref.name, hint(ref.name, "varied names", names))
		}
	}
	if r.misspelt {
		return // the use may stand under the key that is not known
	}
	for _, axis := range r.file.Vary.entries {
		used := slices.ContainsFunc(r.references, func(ref reference) bool {
			return ref.name == axis.name && !r.overruled(ref)
		})
		if !used {
			r.problems.add(axis.at, "vary.%s is not used; write ${%s} under env, command, actions, limits or load, or leave it out", axis.name, axis.name)
		}
	}
}

// overruled tells of a reference under limits in whose place every service has
// a limit of its own.
func (r *reader) overruled(ref reference) bool {
	services := r.file.Services.entries
	return strings.HasPrefix(ref.path, "limits.") && len(services) > 0 &&
		!slices.ContainsFunc(services, func(s named[service]) bool { return ref.usedBy(&s) })
}

// varied are the names in vary.
func (r *reader) varied() []string {
	var names []string
	for _, axis := range r.file.Vary.entries {
		names = append(names, axis.name)
	}
	return names
}

// axesOf are the axes that a service's cells run along.
func (r *reader) axesOf(s *named[service]) []named[axis] {
	var all []named[axis]
	for _, one := range r.file.Vary.entries {
		used := slices.ContainsFunc(r.references, func(ref reference) bool {
			return ref.name == one.name && ref.usedBy(s)
		})
		if used && len(one.value.values) > 0 {
			all = append(all, one)
		}
	}
	return all
}

// countCells refuses an experiment that would never end.
func (r *reader) countCells() bool {
	cells := 0
	for i := range r.file.Services.entries {
		product := 1
		for _, axis := range r.axesOf(&r.file.Services.entries[i]) {
			product *= len(axis.value.values)
			if product > mostCells {
				break
			}
		}
		if cells += product; cells > mostCells {
			r.problems.add(r.file.Vary.at, "more than %d cells; vary less at a time", mostCells)
			return false
		}
	}
	if repeats := r.out.Measure.Repeats; cells*repeats > mostTrials {
		r.problems.add(r.file.Measure.Repeats.at, "%d cells with %d repeats are more than %d trials; vary less, or repeat less", cells, repeats, mostTrials)
	}
	return true
}

// readCells resolves every combination, service by service, the last axis of
// vary moving fastest.
func (r *reader) readCells() {
	for i := range r.file.Services.entries {
		s := &r.file.Services.entries[i]
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
func (r *reader) readCell(s *named[service], axes []named[axis], at []int) Cell {
	cell := Cell{Index: len(r.out.Cells)}
	c := &cellReader{problems: r.problems, names: r.varied(), values: make(map[string]varyValue)}
	if !r.file.Measure.Interval.bad {
		c.interval = r.out.Measure.Interval
	}
	for k, axis := range axes {
		v := &axis.value.values[at[k]]
		c.values[axis.name] = varyValue{text: v.text, null: !v.given && !v.bad, bad: v.bad, at: v.at}
		setting := Setting{Name: axis.name}
		if v.given {
			setting.Value = &v.text
		}
		cell.Vary = append(cell.Vary, setting)
	}
	own := s.value.Limits.over(&r.file.Limits)
	cell.Limits = c.readLimits(&own)
	c.limits = c.limitsHere(&cell.Limits)
	cell.Service = c.readService(s.name, &s.value, r.folder)
	requests := &r.file.Kubernetes.Requests
	c.checkRequests(requests, &own, &cell.Limits)
	cell.Service.Autoscale = c.readAutoscale(&s.value, &own, requests, &cell.Limits)
	c.checkPort(&s.value, &own, cell.replicas())
	if r.benchmark {
		c.checkOne(&own, cell.Limits.Replicas)
		cell.Load.Benchmark = true
		return cell
	}
	cell.Load = c.readLoad(&r.file.Load)
	if cell.Load.Target() != nil && !c.failed {
		c.checkActions(&s.value, &cell, r.out.Measure)
	}
	return cell
}
