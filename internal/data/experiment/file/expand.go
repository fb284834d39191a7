package file

import (
	"fmt"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
)

// combination is the values of one cell.
type combination struct {
	names    []string             // in vary
	values   map[string]varyValue // of those that the cell's service uses
	interval time.Duration        // length of a frame; 0: not known, as it was wrong
}

// varyValue is one value of a varied name.
type varyValue struct {
	text string
	null bool
	bad  bool // reported
	at   place
}

func (v varyValue) String() string {
	if v.null {
		return "null"
	}
	return v.text
}

// expand replaces the names in a text by the cell's values. A text that consists of
// the name of a null counts as absent, and has its fallback. Names that only the
// platform knows stay, and so does $${: experiment.Expand replaces them later. This
// is why no value contains ${ or ends in $ (see checkValue).
func (d *decoder) expand(n *node, f *field, parts []experiment.Segment) (string, bool) {
	if d.isNull(n, f) {
		text, ok := d.fallback(f)
		if !ok && (f.required || f.one) {
			d.wrong(n, "null, but a value is required")
		}
		return text, ok
	}
	late := f.names == lateNames
	var b strings.Builder
	for _, p := range parts {
		value, known := d.cell.values[p.Name]
		switch {
		case p.Name == "" && late:
			b.WriteString(strings.ReplaceAll(p.Letters, "${", "$${"))
		case p.Name == "":
			b.WriteString(p.Letters)
		case value.null:
			d.wrong(n, "${%s} is null here, but only a part of %q; null is only possible for the whole value", p.Name, n.text)
			return "", false
		case known && !value.bad:
			b.WriteString(value.text)
		case known || !late: // reported
			d.failed = true
			return "", false
		default:
			d.late = append(d.late, reference{name: p.Name, node: n})
			b.WriteString("${" + p.Name + "}")
		}
	}
	return b.String(), true
}

// isNull reports whether a text is only the name of a null of this cell.
func (d *decoder) isNull(n *node, f *field) bool {
	if d.cell == nil || n.kind != scalarNode || !f.varies() {
		return false
	}
	name, ok := strings.CutPrefix(n.text, "${")
	name, closed := strings.CutSuffix(name, "}")
	return ok && closed && d.cell.values[name].null
}

// has reports whether a key that may be varied has a value in this cell.
func (d *decoder) has(n *node) bool {
	return n.sound() && !d.isNull(n, &field{names: cellNames})
}

// text is the text of a single value, with names replaced. It reports false if there
// is none, or if the text has names and there is no cell.
func (d *decoder) text(n *node, f *field) (string, bool) {
	switch {
	case n == nil || !n.given():
		return d.fallback(f)
	case n.kind != scalarNode:
		return "", d.wants(n, "a single value")
	case f.names == lettersNames:
		return n.text, true
	}
	parts, err := experiment.Segments(n.text)
	if !f.varies() {
		if err == nil && len(experiment.NamesIn(parts)) == 0 {
			return experiment.Letters(parts), true
		}
		// A name in the wrong place is not reported again as unused or unknown.
		d.refer(n, parts, true)
		d.wrong(n, "${…} is not replaced here, but in command, env, actions, limits and load (except protocol, insecure, ca_file, cert_file, key_file, session_tickets, source, server_name, find, benchmark, proto, import_paths, body_file and auth)")
		return "", false
	}
	if f.names == lateNames && strings.ContainsRune(n.text, 0) {
		err = fmt.Errorf("%q contains a zero byte, which cannot be passed to a program", n.text)
	}
	if err != nil {
		d.wrong(n, "%v", err)
		return "", false
	}
	if d.cell != nil {
		return d.expand(n, f, parts)
	}
	d.refer(n, parts, f.names == lateNames)
	return experiment.Letters(parts), len(experiment.NamesIn(parts)) == 0
}

// fallback is what an absent key stands for.
func (d *decoder) fallback(f *field) (string, bool) {
	text := f.fallback
	if d.searching && f.search != "" {
		text = f.search
	}
	return text, text != ""
}

// refer notes the names in a text.
func (d *decoder) refer(n *node, parts []experiment.Segment, late bool) {
	for _, name := range experiment.NamesIn(parts) {
		d.references = append(d.references, reference{name: name, node: n, late: late})
	}
}
