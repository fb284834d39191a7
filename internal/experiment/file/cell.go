package file

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/experiment"
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

// namesIn are the names in a text's ${}.
func namesIn(parts []experiment.Segment) []string {
	var all []string
	for _, p := range parts {
		if p.Name != "" {
			all = append(all, p.Name)
		}
	}
	return all
}

// expandLetters is a text without names, each $${ as the letters ${.
func expandLetters(parts []experiment.Segment) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Letters)
	}
	return b.String()
}

// expand replaces the names in a text by the cell's values. A text that is only
// the name of a null counts as absent, like an absent or null key, and has its
// fallback. Names that the platform has to know stay, and with them $${, for
// experiment.Expand to end the work. For that no value holds ${ or ends in $
// (see checkValue).
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

// wrong reports a value that does not fit: at the value in vary that caused it,
// if one did.
func (d *decoder) wrong(n *node, format string, args ...any) {
	d.failed = true
	if d.cell == nil {
		n.bad = true
		d.add(n.at, n.path, format, args...)
		return
	}
	at, message := n.at, fmt.Sprintf(format, args...)
	same, names := message, d.varying(n)
	if len(names) > 0 {
		same, at = format, d.cell.values[names[0]].at
		message += fmt.Sprintf(" (from %q at %s", n.text, n.at)
		if len(names) > 1 {
			message += " with " + d.settings(names)
		}
		message += ")"
	}
	d.addOnce(at, n.path, n.path+same, message)
}

// conflict reports values that contradict one another, at the one that was set
// last, or else at the first of them in the file; if some are a service's own,
// at the first of those. path names the field in the error.
func (d *decoder) conflict(path string, nodes []*node, format string, args ...any) {
	d.failed = true
	at, message := nodes[0].at, fmt.Sprintf(format, args...)
	found, own := false, false
	for _, n := range nodes {
		mine := strings.HasPrefix(n.path, "services.")
		better := n.at.set > at.set || n.at.set == at.set && mine && !own
		if !n.absent && (!found || better) {
			at, found, own = n.at, true, mine
		}
	}
	if names := d.varying(nodes...); len(names) > 0 {
		message += " (where " + d.settings(names) + ")"
	}
	d.addOnce(at, path, format, message)
}

// varying are the names of the cell that texts depend on, each once.
func (d *decoder) varying(nodes ...*node) []string {
	var all []string
	for _, n := range nodes {
		parts, err := experiment.Segments(n.text)
		if err != nil {
			continue
		}
		for _, name := range namesIn(parts) {
			if _, known := d.cell.values[name]; known && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

func (d *decoder) settings(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = name + "=" + d.cell.values[name].String()
	}
	return strings.Join(all, ", ")
}
