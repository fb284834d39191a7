package openapi

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// parameter puts the value of a parameter into its place. Those that are not required have
// none unless there is an example.
func (r *request) parameter(p *object, path *string) {
	name, in := p.text("name"), p.text("in")
	required := p.get("required") == true || in == "path"
	schema := any(p)
	if !r.second {
		schema = p.get("schema")
	}
	lower := strings.ToLower(name)
	given, isGiven := "", false
	if in != "body" {
		given, isGiven = r.take(name)
	}
	switch {
	case in == "body":
		return
	case in == "formData" && isGiven:
		fixed := &object{}
		fixed.set("type", "string")
		fixed.set("example", given)
		r.field(name, fixed, true)
		return
	case isGiven:
		r.place(in, name, given, style{}, path)
		return
	case in == "formData":
		r.field(name, p, required)
		return
	case in == "header" && lower == "authorization":
		if required {
			r.Needs = append(r.Needs, "--header 'Authorization: …'")
		}
		return
	case in == "header" && (lower == "accept" || lower == "content-type"): // OpenAPI says so of all three
		return
	case !required && !r.hasExample(p) && !r.hasExample(r.object(schema)):
		return
	}
	value, ok := r.example(p)
	media := r.media(p)
	switch {
	case ok:
	case media != nil:
		value, ok = r.example(media)
		if !ok {
			value, ok = r.schema(media.get("schema"))
		}
	default:
		value, ok = r.schema(schema)
	}
	if !ok {
		r.skip(endless)
		return
	}
	if media != nil {
		value = compact(value)
	}
	r.noteMadeUp(name)
	r.place(in, name, value, styleOf(p, in), path)
}

// place puts a value into its place.
func (r *request) place(in, name string, value any, s style, path *string) {
	switch in {
	case "path":
		// Some write the style as RFC 6570 does, as in {;name*}; the style is that of the parameter.
		one := regexp.MustCompile(`\{[.;]?` + regexp.QuoteMeta(name) + `\*?\}`)
		*path = one.ReplaceAllLiteralString(*path, s.path(name, value))
	case "query":
		r.query = append(r.query, s.query(name, value)...)
	case "header":
		r.Headers = append(r.Headers, [2]string{name, s.joined(value, func(text string) string { return text })})
	case "cookie":
		r.Headers = append(r.Headers, [2]string{"Cookie", strings.Join(s.query(name, value), "; ")})
	}
}

// endless is why an operation is skipped whose value cannot be made.
const endless = "with a schema whose value has no end, or more than 10000 parts"

// media is the description of a parameter's content; nil: it has a schema.
func (r *request) media(p *object) *object {
	content := r.object(p.get("content"))
	for _, name := range namesOf(content) {
		return r.object(content.get(name))
	}
	return nil
}

// style is how a value becomes a text (OpenAPI 3.1, section 4.8.12.2).
type style struct {
	name    string
	explode bool
}

func styleOf(p *object, in string) style {
	s := style{name: p.text("style")}
	if s.name == "" {
		s.name = "simple"
		if in == "query" || in == "cookie" {
			s.name = "form"
		}
	}
	explode, given := p.get("explode").(bool)
	s.explode = given && explode || !given && s.name == "form"
	if collection := p.text("collectionFormat"); collection != "" || p.get("type") != nil { // Swagger 2.0
		s.explode = collection == "multi"
		switch collection {
		case "ssv":
			s.name = "spaceDelimited"
		case "pipes":
			s.name = "pipeDelimited"
		case "tsv":
			s.name = "tabDelimited"
		}
	}
	return s
}

// joined is a value as one text: a,b of a list, and k,v of an object.
func (s style) joined(value any, escape func(string) string) string {
	separator := ","
	switch {
	case s.name == "spaceDelimited":
		separator = escape(" ")
	case s.name == "pipeDelimited":
		separator = escape("|")
	case s.name == "tabDelimited":
		separator = escape("\t")
	case s.name == "label" && s.explode:
		separator = "."
	case s.name == "matrix" && s.explode:
		separator = ";"
	}
	var all []string
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			all = append(all, escape(flat(item)))
		}
	case *object:
		pair := separator
		if s.explode {
			pair = "="
		}
		for _, name := range v.names {
			all = append(all, escape(name)+pair+escape(flat(v.values[name])))
		}
	default:
		all = []string{escape(flat(v))}
	}
	return strings.Join(all, separator)
}

func (s style) path(name string, value any) string {
	text := s.joined(value, url.PathEscape)
	switch s.name {
	case "label":
		return "." + text
	case "matrix":
		if _, isObject := value.(*object); isObject && s.explode {
			return ";" + text
		}
		if all, isList := value.([]any); isList && s.explode {
			text = ""
			for _, item := range all {
				text += ";" + name + "=" + url.PathEscape(flat(item))
			}
			return text
		}
		return ";" + name + "=" + text
	}
	return text
}

// query is a value as pairs, encoded.
func (s style) query(name string, value any) []string {
	var pairs []string
	switch v := value.(type) {
	case []any:
		if s.explode {
			for _, item := range v {
				pairs = append(pairs, escaped(name)+"="+escaped(flat(item)))
			}
			return pairs
		}
	case *object:
		for _, key := range v.names {
			switch {
			case s.name == "deepObject":
				pairs = append(pairs, nested(name+"["+key+"]", v.values[key])...)
			case s.explode:
				pairs = append(pairs, escaped(key)+"="+escaped(flat(v.values[key])))
			}
		}
		if len(pairs) > 0 {
			return pairs
		}
	}
	return []string{escaped(name) + "=" + s.joined(value, escaped)}
}

// nested is a value below a name in brackets: a[b]=1, a[c][]=2.
func nested(name string, value any) []string {
	var pairs []string
	switch v := value.(type) {
	case *object:
		for _, key := range v.names {
			pairs = slices.Concat(pairs, nested(name+"["+key+"]", v.values[key]))
		}
	case []any:
		for _, item := range v {
			pairs = slices.Concat(pairs, nested(name+"[]", item))
		}
	default:
		pairs = []string{escaped(name) + "=" + escaped(flat(v))}
	}
	return pairs
}
