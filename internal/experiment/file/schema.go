package file

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/invopop/jsonschema"
)

// schemaID is where editors find the schema.
const schemaID = "https://raw.githubusercontent.com/millicore/millicore/main/docs/experiment.schema.json"

// Schema is the JSON Schema (draft 2020-12) of experiment files, for editors.
// It is made of the types that the decoder reads into, so that it knows the
// same keys. It checks values as far as that needs no other part of the file.
// It accepts every file that Parse accepts.
func Schema() []byte {
	root := schemaOf(reflect.TypeFor[document]())
	root.Version, root.ID = jsonschema.Version, schemaID
	root.Title = "Millicore experiment"
	data, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("experiment file: schema of its own types: " + err.Error())
	}
	return append(data, '\n')
}

// schematic is a type of the shape that knows its own schema.
type schematic interface {
	schema() *jsonschema.Schema
}

func schemaOf(t reflect.Type) *jsonschema.Schema {
	if own, ok := reflect.New(t).Interface().(schematic); ok {
		return own.schema()
	}
	if t.Kind() == reflect.Slice {
		s := typed("array", "null")
		s.Items = schemaOf(t.Elem())
		return s
	}
	return structSchema(t)
}

// structSchema is that of a map with known keys.
func structSchema(t reflect.Type) *jsonschema.Schema {
	s := typed("object")
	s.Properties = jsonschema.NewProperties()
	s.AdditionalProperties = jsonschema.FalseSchema
	for _, f := range fieldsOf(t) {
		property := schemaOf(t.FieldByIndex(f.index).Type)
		if f.enum != nil {
			property.Pattern = f.enum.pattern()
			if _, ok := reflect.New(t.FieldByIndex(f.index).Type).Interface().(interface{ varies() }); ok {
				property.Pattern += orName
			}
		}
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
		instead := slices.ContainsFunc(fieldsOf(t), func(o field) bool { return o.or == f.key })
		if f.required || f.one || instead {
			notEmpty(property)
		}
		if f.one {
			s.OneOf = append(s.OneOf, given(f.key))
		}
		s.Properties.Set(f.key, property)
	}
	for _, f := range fieldsOf(t) {
		if f.stands {
			s.OneOf = append(s.OneOf, alone(f.key, fieldsOf(t)))
		}
	}
	return s
}

// alone is true where a key is given and none of those that it stands for.
func alone(key string, fields []field) *jsonschema.Schema {
	s := given(key)
	for _, f := range fields {
		if f.one {
			s.Properties.Set(f.key, &jsonschema.Schema{Type: "null"})
		}
	}
	return s
}

// given is true where a key is there and not null.
func given(key string) *jsonschema.Schema {
	s := &jsonschema.Schema{Required: []string{key}, Properties: jsonschema.NewProperties()}
	s.Properties.Set(key, &jsonschema.Schema{Not: &jsonschema.Schema{Type: "null"}})
	return s
}

// defaultOf is a fallback as JSON: a number or a boolean where it reads as one.
func defaultOf(fallback string) any {
	if bareNumber.MatchString(fallback) {
		return json.Number(fallback)
	}
	if known, err := (truth{}).read(fallback); err == nil {
		return known
	}
	return fallback
}

// orNull also allows null, which stands for an absent key.
func orNull(s *jsonschema.Schema) *jsonschema.Schema {
	if types, ok := s.Extras["type"].([]string); ok && !slices.Contains(types, "null") {
		s.Extras["type"] = append(types, "null")
	}
	return s
}

// notEmpty refuses an empty list or map.
func notEmpty(s *jsonschema.Schema) {
	one := uint64(1)
	switch {
	case s.Items != nil:
		s.MinItems = &one
	case s.PropertyNames != nil:
		s.MinProperties = &one
	}
}

func (a *axis) schema() *jsonschema.Schema {
	s := schemaOf(reflect.TypeFor[[]literal]())
	notEmpty(s)
	return s
}

func (l *literal) schema() *jsonschema.Schema  { return orNull(text{}.schema()) }
func (l *launched) schema() *jsonschema.Schema { return orNull(text{}.schema()) }

func (f *fixed[K, T]) schema() *jsonschema.Schema {
	var reader K
	return reader.schema()
}

// orName is the pattern of a text with a name in it, after another pattern.
const orName = `|\$\{.+\}`

func (v *varied[K, T]) varies() {}

// A varied scalar may also be a text with a ${name}, whatever its kind.
func (v *varied[K, T]) schema() *jsonschema.Schema {
	var reader K
	s := orNull(reader.schema())
	if s.Pattern != "" {
		s.Pattern += orName
	}
	return s
}

func (m *mapping[K, T]) schema() *jsonschema.Schema {
	var reader K
	s := typed("object")
	s.PropertyNames = &jsonschema.Schema{Pattern: reader.schema().Pattern}
	s.AdditionalProperties = schemaOf(reflect.TypeFor[T]())
	return s
}

func (t *target) schema() *jsonschema.Schema {
	number := t.number.schema()
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{number, structSchema(reflect.TypeFor[course]())}}
}
