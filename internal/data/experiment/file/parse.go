// Package file reads experiment files: YAML with positions, the values of --set,
// and all checks of an experiment, so that every mistake is found before a
// service is started. It also writes the file of an experiment that is built from
// flags, and the JSON Schema.
//
// A key is declared once, by the tags of a field (see field); most fields are
// those of package experiment. A file is read twice by the same declarations: as
// a whole, and then cell by cell with the values of the cell's names.
//
// The package looks at nothing but the text: not at the host, not at a platform,
// and not at the files and variables that requests name (experiment.ReadInputs).
package file

import (
	"path/filepath"
	"reflect"

	"github.com/millicore/millicore/internal/data/experiment"
)

const mostRepeats = 1000

// Parse reads an experiment file and resolves it into cells. Sets are the texts
// of --set, as in "limits.cpu=250m"; they change the file before it is checked.
// file names it in errors and gives the folder that dir is relative to. The
// error is of the type Errors and has all mistakes. Neither an error nor the
// experiment's Source, Sets and labels have secrets.
func Parse(file string, data []byte, sets []string) (*experiment.Experiment, error) {
	return ParseWith(file, data, sets, nil)
}

// ParseWith parses like Parse a file that may have services of compose files.
func ParseWith(file string, data []byte, sets []string, expand Expand) (*experiment.Experiment, error) {
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
	p.refuseHidden(root)
	return resolve(p, root, string(data), sets, expand)
}

// resolve makes an experiment of a tree and of what --set changes in it. source
// is the tree as text.
func resolve(p *problems, root *node, source string, sets []string, expand Expand) (*experiment.Experiment, error) {
	spellDatabases(root)
	applySets(p, root, sets)
	spellDatabases(root)
	root.locate("")
	p.root = root
	p.fillServices(root, expand)
	d := &decoder{
		problems:  p,
		folder:    filepath.Dir(p.file),
		root:      root,
		compose:   expand,
		out:       &experiment.Experiment{Source: source, Sets: sets},
		searching: root.find("load.find").given(),
		// A word that is neither true nor false is reported later.
		benchmark: root.find("load.benchmark").given() && root.find("load.benchmark").text != "false",
	}
	d.read()
	if err := p.err(); err != nil {
		return nil, err
	}
	d.hide()
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
	d.checkSecretsOfVary()
	d.checkReferences()
	d.checkTolerations()
	d.checkBounds()
	d.readObjective()
	d.readServer()
	d.checkCommonLoad()
	d.checkSearch()
	d.checkBenchmark()
	if d.countCells() {
		d.readCells()
		d.checkMeasure()
		d.readClaims()
	}
}
