package openapi

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// example is the example of a parameter, a media type or a schema: the first one that is a
// value and not the address of one.
func (r *request) example(of *object) (any, bool) {
	for _, name := range []string{"example", "x-example"} {
		if value := of.get(name); value != nil {
			return value, true
		}
	}
	switch all := of.get("examples").(type) {
	case []any: // of a schema
		for _, value := range all {
			if value != nil {
				return value, true
			}
		}
	case *object: // of a parameter or a media type
		for _, name := range all.names {
			one := r.object(all.values[name])
			for _, key := range []string{"value", "dataValue"} {
				if value := one.get(key); value != nil {
					return value, true
				}
			}
		}
	}
	return nil, false
}

func (r *request) hasExample(of *object) bool {
	_, has := r.example(of)
	return has
}

// mostValues bounds the values of one request, and mostWork the names of the schemas that are
// read for them: each value of a list may have a large schema.
const (
	mostValues = 10_000
	mostWork   = 300_000
)

// schema makes a value of a schema; false if the value would have no end.
func (r *request) schema(node any) (any, bool) {
	depth := len(r.open)
	defer func() { r.open = r.open[:depth] }()
	if r.values++; r.values > mostValues || r.err != nil {
		return nil, false
	}
	m, ok := r.flatten(node)
	if !ok || r.work > mostWork {
		return nil, false
	}
	if value, known := r.known(m); known {
		return value, true
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		if alternatives := m.list(key); len(alternatives) > 0 {
			return r.alternative(m, key, alternatives)
		}
	}
	switch typeOf(m) {
	case "object":
		return r.properties(m)
	case "array":
		return r.items(m)
	case "boolean":
		return false, true
	case "null":
		return nil, true
	case "integer", "int", "long": // the last two are of no version, but common
		r.guessed = true
		return number(m, true), true
	case "number", "float", "double":
		r.guessed = true
		return number(m, false), true
	}
	r.guessed = true
	return r.text(m), true
}

// known is the value that a schema names.
func (r *request) known(m *object) (any, bool) {
	if value, has := r.example(m); has {
		return value, true
	}
	for _, name := range []string{"default", "const"} {
		if value := m.get(name); value != nil {
			return value, true
		}
	}
	for _, value := range m.list("enum") {
		if value != nil {
			return value, true
		}
	}
	return nil, false
}

// flatten follows the reference of a schema, and merges what allOf has into it.
func (r *request) flatten(node any) (*object, bool) {
	merged := &object{}
	parts := 0 // with properties
	var merge func(node any, top bool) bool
	merge = func(node any, top bool) bool {
		m, _ := node.(*object)
		if ref, isRef := m.get("$ref").(string); isRef {
			if i := slices.Index(r.open, ref); i >= 0 {
				return i >= r.instance // it is merged already, or the value is inside of itself
			}
			r.open = append(r.open, ref)
			if m = r.object(node); m == nil {
				return r.err == nil
			}
		}
		r.work += 1 + len(namesOf(m)) + len(namesOf(objectOf(m.get("properties"))))
		for _, part := range m.list("allOf") {
			if r.work > mostWork || !merge(part, false) {
				return false
			}
		}
		if m.get("properties") != nil {
			if parts++; parts > 1 { // the example of a part is no example of all
				merged = merged.without("example", "examples", "default")
			}
		}
		for _, name := range namesOf(m) {
			value := m.values[name]
			switch {
			case name == "allOf":
			case name == "properties":
				all := &object{}
				for _, from := range []*object{objectOf(merged.get(name)), objectOf(value)} {
					for _, property := range namesOf(from) {
						all.set(property, from.values[property])
					}
				}
				merged.set(name, all)
			case name == "required" && len(merged.list(name)) > 0:
				more, _ := value.([]any)
				merged.set(name, slices.Concat(merged.list(name), more))
			case !top && parts > 1 && (name == "example" || name == "examples" || name == "default"):
			default:
				merged.set(name, value)
			}
		}
		return true
	}
	return merged, merge(node, true)
}

func objectOf(value any) *object {
	o, _ := value.(*object)
	return o
}

// alternative makes a value of the first alternative that has one.
func (r *request) alternative(m *object, key string, alternatives []any) (any, bool) {
	common := m.without(key, "discriminator")
	for _, one := range alternatives {
		if r.object(one).get("type") == "null" {
			continue
		}
		both := &object{}
		both.set("allOf", []any{common, one})
		if value, ok := r.schema(both); ok {
			return r.discriminated(m, one, value), true
		}
	}
	return nil, false
}

// discriminated is a value that names its alternative, unless an example names it already.
func (r *request) discriminated(m *object, one, value any) any {
	by := r.object(m.get("discriminator"))
	made, isObject := value.(*object)
	name, ref := by.text("propertyName"), objectOf(one).text("$ref")
	if has := made.get(name); name == "" || ref == "" || !isObject || has != nil && has != anyText {
		return value
	}
	title := ref[strings.LastIndex(ref, "/")+1:]
	mapping := r.object(by.get("mapping"))
	for _, key := range namesOf(mapping) {
		if mapping.text(key) == ref {
			title = key
			break
		}
	}
	named := made.without() // the value may be an example of the document
	named.set(name, title)
	return named
}

// inside makes a value that is part of the present one.
func (r *request) inside(node any) (any, bool) {
	before := r.instance
	r.instance = len(r.open)
	defer func() { r.instance = before }()
	return r.schema(node)
}

// typeOf is the type of a schema, or what its other names show of it.
func typeOf(m *object) string {
	if name := m.text("type"); name != "" {
		return name
	}
	for _, name := range m.list("type") {
		if name != "null" {
			return plain(name)
		}
	}
	for _, shown := range [][2]string{
		{"properties", "object"}, {"additionalProperties", "object"}, {"required", "object"}, {"items", "array"}, {"prefixItems", "array"},
		{"minimum", "number"}, {"maximum", "number"}, {"multipleOf", "number"},
	} {
		if m.get(shown[0]) != nil {
			return shown[1]
		}
	}
	return "string"
}

// properties makes an object: of its required properties, and of those with an example.
func (r *request) properties(m *object) (any, bool) {
	o := &object{}
	properties := r.object(m.get("properties"))
	isRequired := map[any]bool{}
	for _, one := range m.list("required") {
		if name, isText := one.(string); isText {
			isRequired[name] = true
		}
	}
	for _, name := range namesOf(properties) {
		property := r.object(properties.get(name))
		required := isRequired[name]
		if property.get("readOnly") == true || !required && !r.hasExample(property) {
			continue
		}
		value, ok := r.inside(properties.get(name))
		if ok {
			o.set(name, value)
		} else if required {
			return nil, false
		}
	}
	for _, one := range m.list("required") {
		if name, isText := one.(string); isText && properties.get(name) == nil {
			more, _ := m.get("additionalProperties").(*object)
			value, ok := r.inside(more)
			if !ok {
				return nil, false
			}
			o.set(name, value)
		}
	}
	return o, true
}

// items makes a list of one item, or of as many as it must have.
func (r *request) items(m *object) (any, bool) {
	least := int(figure(m, "minItems", 0))
	most := int(figure(m, "maxItems", math.MaxInt32))
	all := []any{}
	first := m.list("prefixItems")
	for i := range min(max(1, least, len(first)), most) {
		schema := m.get("items")
		if i < len(first) {
			schema = first[i]
		}
		item, ok := r.inside(schema)
		if !ok {
			return all, least <= len(all)
		}
		all = append(all, item)
	}
	return all, true
}

// figure is a number of a schema that is a count.
func figure(m *object, name string, otherwise float64) float64 {
	number, _ := m.get(name).(json.Number)
	f, err := number.Float64()
	if err != nil || f < 0 || f > math.MaxInt32 {
		return otherwise
	}
	return f
}

// number is the number nearest to 1 that a schema allows.
func number(m *object, whole bool) json.Number {
	bound := func(name, exclusive string) (float64, bool, bool) {
		n, has := m.get(name).(json.Number)
		open := m.get(exclusive) == true // OpenAPI 3.0
		if other, given := m.get(exclusive).(json.Number); given {
			n, has, open = other, true, true
		}
		f, err := n.Float64()
		return f, open, has && err == nil
	}
	low, lowOpen, hasLow := bound("minimum", "exclusiveMinimum")
	high, highOpen, hasHigh := bound("maximum", "exclusiveMaximum")
	step := 1.0
	if !whole && hasLow && hasHigh && high-low <= 2 {
		step = (high - low) / 2
	}
	if lowOpen {
		low += step
	}
	if highOpen {
		high -= step
	}
	value := 1.0
	if hasHigh {
		value = min(value, high)
	}
	if hasLow {
		value = max(value, low)
	}
	if n, has := m.get("multipleOf").(json.Number); has {
		if f, err := n.Float64(); err == nil && f > 0 {
			if value = math.Ceil(value/f) * f; hasHigh && value > high {
				value = math.Floor(high/f) * f
			}
		}
	}
	if whole {
		value = math.Ceil(value)
	}
	return json.Number(strconv.FormatFloat(value, 'f', -1, 64))
}

// compact is a value as JSON.
func compact(value any) string {
	var b strings.Builder
	write(&b, value)
	return b.String()
}

// flat is a value as a text: a scalar as it is, the rest as JSON.
func flat(value any) string {
	switch value.(type) {
	case string, json.Number, bool:
		return plain(value)
	case nil:
		return ""
	}
	return compact(value)
}

func write(b *strings.Builder, value any) {
	switch v := value.(type) {
	case *object:
		b.WriteByte('{')
		for i, name := range v.names {
			if i > 0 {
				b.WriteByte(',')
			}
			write(b, name)
			b.WriteByte(':')
			write(b, v.values[name])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			write(b, item)
		}
		b.WriteByte(']')
	case string:
		var line strings.Builder
		e := json.NewEncoder(&line)
		e.SetEscapeHTML(false)
		_ = e.Encode(v) // a text can always be encoded
		b.WriteString(strings.TrimSuffix(line.String(), "\n"))
	default:
		data, _ := json.Marshal(v) // a number, a boolean or null
		b.Write(data)
	}
}
