package file

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/millicore/millicore/internal/data/experiment"
)

const (
	// schemaID is where editors find the schema.
	schemaID = "https://raw.githubusercontent.com/millicore/millicore/main/docs/experiment.schema.json"
	draft    = "https://json-schema.org/draft/2020-12/schema"
)

// Schema is the JSON Schema (draft 2020-12) of experiment files, for editors.
// It is made of the declarations that the decoder reads, and so has the same keys.
// It checks values that do not depend on other parts of the file.
// It accepts every file that Parse accepts.
func Schema() []byte {
	root := schemaOf(&field{typ: reflect.TypeFor[document](), names: noNames})
	root.Schema, root.ID = draft, schemaID
	root.Title = "Millicore experiment"
	data, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("experiment file: schema of its own types: " + err.Error())
	}
	return append(data, '\n')
}

// typed is a schema of one or more types. Its keywords each look at values of
// one type: pattern at strings, minimum at numbers.
func typed(types ...string) *jsonschema.Schema {
	return &jsonschema.Schema{Types: slices.Clone(types)}
}

func schemaOf(f *field) *jsonschema.Schema {
	fields, element := f.shape()
	switch {
	case f.typ == reflect.TypeFor[*experiment.Target]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{orNull(singleSchema(f)), structSchema(fields)}}
	case f.typ == reflect.TypeFor[experiment.Dependency]():
		return dependencySchema(fields)
	case f.typ == reflect.TypeFor[experiment.Load]():
		return loadSchema(fields)
	case fields != nil:
		return structSchema(fields)
	case element == nil:
		return singleSchema(f)
	}
	// A null is left out.
	below := schemaOf(element)
	if element.single() {
		orNull(below)
	}
	if element.list {
		s := typed("array")
		if f.typ == reflect.TypeFor[[]experiment.Request]() || f.key == "compose" { // or the name of a file: see WithMix
			s = typed("array", "string")
		}
		s.Items = below
		return s
	}
	notEmpty(below) // vary's lists
	if f.refers() {
		below = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{below, structSchema(fieldsOf(reflect.TypeFor[experiment.Reference]()))}}
	}
	s := typed("object")
	s.PropertyNames = &jsonschema.Schema{Pattern: f.keys.pattern}
	s.AdditionalProperties = below
	return s
}

// singleSchema is that of a single value. Where it may differ from cell to cell,
// it may also be a text with a ${name}, whatever its kind.
func singleSchema(f *field) *jsonschema.Schema {
	s := typed(f.kind.types...)
	s.Pattern, s.Minimum, s.Maximum, s.ExclusiveMinimum = f.kind.pattern, f.kind.least, f.kind.most, f.kind.above
	if s.Pattern != "" && f.varies() {
		s.Pattern += `|\$\{.+\}`
	}
	return s
}

// structSchema is that of a map with known keys.
func structSchema(fields []field) *jsonschema.Schema {
	s := typed("object")
	s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}} // written as false
	for i := range fields {
		f := &fields[i]
		property := schemaOf(f)
		property.Description = f.doc
		if f.search != "" {
			property.Description += " With load.find the default is " + f.search + "."
		}
		if f.fallback != "" {
			property.Default = defaultOf(f.fallback)
		}
		switch {
		case f.or != "":
			orNull(property)
			s.AllOf = append(s.AllOf, &jsonschema.Schema{OneOf: []*jsonschema.Schema{given(f.key), given(f.or)}})
		case f.required:
			s.Required = append(s.Required, f.key)
		default:
			orNull(property)
		}
		instead := slices.ContainsFunc(fields, func(o field) bool { return o.or == f.key })
		if f.required || f.one || instead {
			notEmpty(property)
		}
		if f.one {
			only := given(f.key)
			if f.with != "" {
				set(only, f.with, typed("null"))
			}
			s.OneOf = append(s.OneOf, only)
		}
		set(s, f.key, property)
	}
	return s
}

// dependencySchema is the schema of the map, or of the short form. The name of what is
// built in replaces command, image and url.
func dependencySchema(fields []field) *jsonschema.Schema {
	names := []any{experiment.MongoDB, experiment.Neighbour, experiment.Postgres}
	short := typed("string")
	short.Enum = names
	full, named := structSchema(fields), alone("name", fields)
	set(named, "name", &jsonschema.Schema{Enum: names})
	full.OneOf = append(full.OneOf, named)
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{short, full}}
}

// loadSchema is that of traffic, with its requests and one of its targets, or of
// a benchmark, which has none.
func loadSchema(fields []field) *jsonschema.Schema {
	s := structSchema(fields)
	measures := &jsonschema.Schema{Enum: []any{true, "true"}}
	targets := append(s.OneOf, alone("find", fields))
	traffic := &jsonschema.Schema{AllOf: s.AllOf, OneOf: targets}
	set(traffic, "benchmark", &jsonschema.Schema{Not: measures})
	none := &jsonschema.Schema{Required: []string{"benchmark"}}
	for _, key := range keysOf(fields) {
		set(none, key, &jsonschema.Schema{Type: "null"})
	}
	set(none, "benchmark", measures)
	s.OneOf, s.AllOf, s.AnyOf = nil, nil, []*jsonschema.Schema{traffic, none}
	return s
}

// alone is true if a key is given and none of those that it replaces.
func alone(key string, fields []field) *jsonschema.Schema {
	s := given(key)
	for _, f := range fields {
		if f.one {
			set(s, f.key, &jsonschema.Schema{Type: "null"})
		}
	}
	return s
}

// given is true if a key is present and not null.
func given(key string) *jsonschema.Schema {
	s := &jsonschema.Schema{Required: []string{key}}
	set(s, key, &jsonschema.Schema{Not: &jsonschema.Schema{Type: "null"}})
	return s
}

// set sets the schema of a key. The keys are written in the order in which they are set
// for the first time.
func set(s *jsonschema.Schema, key string, property *jsonschema.Schema) {
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
	}
	if s.Properties[key] == nil {
		s.PropertyOrder = append(s.PropertyOrder, key)
	}
	s.Properties[key] = property
}

// defaultOf is a fallback as JSON: a number or a boolean where it reads as one.
func defaultOf(fallback string) json.RawMessage {
	var value any = fallback
	if bareNumber.MatchString(fallback) {
		value = json.Number(fallback)
	} else if known, err := kindNamed("truth").read(fallback); err == nil {
		value = known
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic("experiment file: schema of its own defaults: " + err.Error())
	}
	return text
}

// orNull also allows null, which stands for an absent key.
func orNull(s *jsonschema.Schema) *jsonschema.Schema {
	if s.Types != nil && !slices.Contains(s.Types, "null") {
		s.Types = append(s.Types, "null")
	}
	return s
}

// notEmpty refuses an empty list or map.
func notEmpty(s *jsonschema.Schema) {
	one := 1
	switch {
	case s.Items != nil:
		s.MinItems = &one
	case s.PropertyNames != nil:
		s.MinProperties = &one
	}
}
