package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// object is a JSON object in the order of its document. A nil object is empty.
type object struct {
	names  []string
	values map[string]any // string, json.Number, bool, nil, []any, *object
}

func (o *object) get(name string) any {
	if o == nil {
		return nil
	}
	return o.values[name]
}

func (o *object) set(name string, value any) {
	if _, has := o.values[name]; !has {
		o.names = append(o.names, name)
	}
	if o.values == nil {
		o.values = map[string]any{}
	}
	o.values[name] = value
}

// list is the value of a name that has a list.
func (o *object) list(name string) []any {
	all, _ := o.get(name).([]any)
	return all
}

// text is the value of a name that has a text.
func (o *object) text(name string) string {
	text, _ := o.get(name).(string)
	return text
}

// without is a copy that lacks names.
func (o *object) without(names ...string) *object {
	left := &object{}
	for _, name := range o.names {
		if !slices.Contains(names, name) {
			left.set(name, o.values[name])
		}
	}
	return left
}

// The maximum depth of a document, and how many values its YAML aliases may stand for: each
// stands for all of its anchor, so few of them can stand for any number.
const (
	mostDepth   = 1_000
	mostAliased = 1_000_000
)

var errDeep = fmt.Errorf("it has more than %d levels", mostDepth)

// parse reads JSON or YAML.
func parse(data []byte) (any, error) {
	if text := bytes.TrimSpace(data); len(text) > 0 && text[0] == '{' {
		return parseJSON(data)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		text := strings.TrimPrefix(err.Error(), "yaml: ")
		if line, rest, found := strings.Cut(text, ": "); found && strings.HasPrefix(line, "line ") {
			return nil, fmt.Errorf("%s: it is not valid YAML: %s", line, rest)
		}
		return nil, fmt.Errorf("it is not valid YAML: %s", text)
	}
	if len(root.Content) == 0 {
		return nil, nil
	}
	r := yamlReader{aliased: map[*yaml.Node]*anchored{}}
	return r.value(root.Content[0], 0)
}

func parseJSON(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	value, err := jsonValue(d, 0)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows its end")
		}
	}
	if errors.Is(err, errDeep) || err == nil {
		return value, err
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	offset := d.InputOffset()
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		offset = syntax.Offset
	}
	before := data[:max(0, min(offset, int64(len(data))))]
	return nil, fmt.Errorf("line %d: it is not valid JSON: %w", 1+bytes.Count(before, []byte("\n")), err)
}

func jsonValue(d *json.Decoder, depth int) (any, error) {
	if depth > mostDepth {
		return nil, errDeep
	}
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		o := &object{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := jsonValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			o.set(name.(string), value)
		}
		_, err := d.Token()
		return o, err
	case json.Delim('['):
		all := []any{}
		for d.More() {
			value, err := jsonValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, value)
		}
		_, err := d.Token()
		return all, err
	}
	return token, nil
}

// yamlReader turns nodes of YAML into values of JSON. Dates stay texts.
type yamlReader struct {
	aliased map[*yaml.Node]*anchored
	values  int // so far, with those that aliases stand for
}

// anchored is the value of an anchor that an alias has named.
type anchored struct {
	value  any
	values int
	read   bool
}

func (r *yamlReader) value(n *yaml.Node, depth int) (any, error) {
	if depth > mostDepth {
		return nil, errDeep
	}
	r.values++
	switch n.Kind {
	case yaml.AliasNode:
		return r.alias(n, depth)
	case yaml.SequenceNode:
		all := []any{}
		for _, item := range n.Content {
			value, err := r.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, value)
		}
		return all, nil
	case yaml.MappingNode:
		return r.object(n, depth)
	}
	return scalar(n), nil
}

func (r *yamlReader) object(n *yaml.Node, depth int) (any, error) {
	o := &object{}
	var merged []any
	for i := 0; i+1 < len(n.Content); i += 2 {
		value, err := r.value(n.Content[i+1], depth+1)
		switch name := n.Content[i]; {
		case err != nil:
			return nil, err
		case name.Kind == yaml.AliasNode && name.Alias.Kind == yaml.ScalarNode:
			o.set(name.Alias.Value, value)
		case name.Kind != yaml.ScalarNode:
			return nil, fmt.Errorf("line %d: want a name, not a list or a map", name.Line)
		case name.ShortTag() == "!!merge":
			if several, ok := value.([]any); ok {
				merged = append(merged, several...)
			} else {
				merged = append(merged, value)
			}
		default:
			o.set(name.Value, value)
		}
	}
	for _, value := range merged {
		more, _ := value.(*object)
		for _, name := range namesOf(more) {
			if _, has := o.values[name]; !has {
				o.set(name, more.values[name])
			}
		}
	}
	return o, nil
}

func (r *yamlReader) alias(n *yaml.Node, depth int) (any, error) {
	a := r.aliased[n.Alias]
	switch {
	case a == nil:
		a = &anchored{}
		r.aliased[n.Alias] = a
		before := r.values
		value, err := r.value(n.Alias, depth+1)
		if err != nil {
			return nil, err
		}
		*a = anchored{value, r.values - before, true}
	case !a.read:
		return nil, fmt.Errorf("line %d: the alias *%s is part of what it stands for", n.Line, n.Value)
	default:
		if r.values += a.values; r.values > mostAliased {
			return nil, fmt.Errorf("line %d: with its aliases it has more than %d values", n.Line, mostAliased)
		}
	}
	return a.value, nil
}

func scalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int", "!!float":
		var number json.Number
		if json.Unmarshal([]byte(n.Value), &number) == nil {
			return number
		}
		var i int64
		if n.Decode(&i) == nil {
			return json.Number(strconv.FormatInt(i, 10))
		}
	}
	return n.Value
}

// document is a document with its references.
type document struct {
	root *object
	at   string // what is read now, for errors
	err  error  // the first one, which ends the reading

	given map[string]string // values of parameters, by their names
	used  map[string]bool   // names of given, of requests that are made
	texts map[string]match  // of patterns, by the pattern and its lengths
}

// mostHops bounds a chain of references.
const mostHops = 100

// object is a value that is an object or a reference to one, or nil. Names beside $ref replace
// those of the object that it names.
func (d *document) object(value any) *object {
	o, _ := value.(*object)
	for range mostHops {
		ref, isRef := o.get("$ref").(string)
		if !isRef || d.err != nil {
			return o
		}
		target, _ := d.find(ref).(*object)
		beside := o.without("$ref")
		if o = target; len(beside.names) > 0 {
			o = &object{}
			for _, part := range []*object{target, beside} {
				for _, name := range namesOf(part) {
					o.set(name, part.values[name])
				}
			}
		}
	}
	d.fail("its references lead in a circle")
	return nil
}

// find is what a reference names.
func (d *document) find(ref string) any {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local {
		d.fail("$ref %q is in another file, and only this one is read; put all into one, as with redocly bundle", cut(ref))
		return nil
	}
	if unescaped, err := url.PathUnescape(pointer); err == nil {
		pointer = unescaped
	}
	var value any = d.root
	for i, name := range strings.Split(pointer, "/") {
		if i == 0 && name == "" {
			continue
		}
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		switch in := value.(type) {
		case *object:
			if _, has := in.values[name]; has {
				value = in.values[name]
				continue
			}
		case []any:
			if n, err := strconv.Atoi(name); err == nil && n >= 0 && n < len(in) {
				value = in[n]
				continue
			}
		}
		d.fail("$ref %q names nothing in the document", cut(ref))
		return nil
	}
	return value
}

// fail ends the reading with an error about what is read now.
func (d *document) fail(format string, values ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%s: %w", d.at, fmt.Errorf(format, values...))
	}
}
