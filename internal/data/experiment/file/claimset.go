package file

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/data/experiment"
)

// written is the experiment of the file before --set. It decides which cells claims
// select: a value that is set for one run must not turn a published statement into
// one about something else.
type written struct {
	exp    *experiment.Experiment
	leaves []map[string]string // of each cell
}

// readWritten reads the file again, without --set. If it is valid only with --set,
// its claims select cells of this run.
func (d *decoder) readWritten() {
	if len(d.out.Sets) == 0 {
		return
	}
	was, err := ParseWith(d.file, []byte(d.out.Source), nil, d.compose)
	if err != nil {
		return
	}
	d.wrote = &written{exp: was}
	for i := range was.Cells {
		d.wrote.leaves = append(d.wrote.leaves, leavesOf(&was.Cells[i]))
	}
}

// asWritten finds the cell of this run that a selector selects in the file as it is
// written. It reports false if that is not exactly one cell, as for a claim that was
// set itself. The cell must have the same service and the same varied values, also
// those that the selector omits. --set may have changed what all cells of the
// service share, but not what distinguishes them: a cell with procs=1 whose
// GOMAXPROCS was set to 4 is a different one.
func (d *decoder) asWritten(s *experiment.Selector) bool {
	was := d.wrote.meant(s)
	if was < 0 {
		return false
	}
	old := &d.wrote.exp.Cells[was]
	if now := d.now(old); now != experiment.NoCell && !d.wrote.distinguished(was, &d.out.Cells[now]) {
		s.Cell = now
		return true
	}
	s.Service, s.Vary = old.Service.Name, nil // all of what is missing
	for _, v := range old.Vary {
		if s.Vary == nil {
			s.Vary = make(map[string]*string)
		}
		s.Vary[v.Name] = v.Value
	}
	return true
}

// now is the cell of this run with the name of a cell of the file; NoCell: none.
func (d *decoder) now(old *experiment.Cell) int {
	return slices.IndexFunc(d.out.Cells, func(c experiment.Cell) bool {
		return c.Service.Name == old.Service.Name && slices.EqualFunc(c.Vary, old.Vary, func(x, y experiment.Setting) bool {
			return x.Name == y.Name && (x.Value == nil) == (y.Value == nil) && (x.Value == nil || *x.Value == *y.Value)
		})
	})
}

// meant is the one cell of a selector; -1: none, or several.
func (w *written) meant(s *experiment.Selector) int {
	if w == nil {
		return -1
	}
	found := slices.IndexFunc(w.exp.Cells, func(c experiment.Cell) bool { return s.Means(&c) })
	if found >= 0 && slices.ContainsFunc(w.exp.Cells[found+1:], func(c experiment.Cell) bool { return s.Means(&c) }) {
		return -1
	}
	return found
}

// distinguished reports whether --set changed something in a cell that distinguished
// the cells of its service.
func (w *written) distinguished(was int, c *experiment.Cell) bool {
	for _, path := range differences(w.leaves[was], leavesOf(c)) {
		for i := range w.exp.Cells {
			here, ok := w.leaves[i][path]
			there, known := w.leaves[was][path]
			if w.exp.Cells[i].Service.Name == c.Service.Name && (ok != known || here != there) {
				return true
			}
		}
	}
	return false
}

// setFor are the parts of a claim's cells that --set changed, and the objective
// if the claim depends on it.
func (d *decoder) setFor(c *experiment.Claim) []string {
	if d.wrote == nil {
		return nil
	}
	var parts []string
	words := map[string]string{"limits": "limits", "load": "load", "service": "the service"}
	for _, s := range c.Selectors() {
		was := d.wrote.meant(&s)
		if was < 0 {
			continue
		}
		now := d.now(&d.wrote.exp.Cells[was])
		if now == experiment.NoCell {
			continue
		}
		for _, path := range differences(d.wrote.leaves[was], leavesOf(&d.out.Cells[now])) {
			top, _, _ := strings.Cut(path, ".")
			parts = append(parts, words[top])
		}
	}
	if c.Metric == experiment.MetricBreakingPoint && !reflect.DeepEqual(d.wrote.exp.Objective, d.out.Objective) {
		parts = append(parts, "the objective")
	}
	slices.Sort(parts)
	return slices.Compact(parts)
}

// leavesOf are all single values of a cell by their path in JSON, without its index
// and its varied values.
func leavesOf(c *experiment.Cell) map[string]string {
	bare := *c
	bare.Index, bare.Vary = 0, nil
	data, err := json.Marshal(&bare)
	if err != nil {
		panic("experiment file: a cell is no JSON: " + err.Error()) // it is written into each record
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		panic("experiment file: a cell's JSON cannot be read: " + err.Error())
	}
	leaves := make(map[string]string)
	addLeaves(leaves, "", tree)
	return leaves
}

func addLeaves(to map[string]string, path string, tree any) {
	at := func(key string) string {
		if path == "" {
			return key
		}
		return path + "." + key
	}
	switch v := tree.(type) {
	case map[string]any:
		for key, value := range v {
			addLeaves(to, at(key), value)
		}
	case []any:
		for i, value := range v {
			addLeaves(to, at(fmt.Sprint(i)), value)
		}
	default:
		to[path] = fmt.Sprint(v)
	}
}

// differences are the paths at which two cells differ, in order.
func differences(a, b map[string]string) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	var paths []string
	for path := range all {
		x, inA := a[path]
		if y, inB := b[path]; inA != inB || x != y {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}
