package openapi

import (
	"encoding/json"
	"fmt"
	"strings"
)

// field adds a field of a form of Swagger 2.0.
func (r *request) field(name string, p *object, required bool) {
	if !required && !r.hasExample(p) {
		return
	}
	if r.form == nil {
		r.form = &object{}
	}
	r.form.set(name, p)
}

// body sets the body. One that may be left out is left out if it cannot be made.
func (r *request) body() {
	described := r.object(r.operation.get("requestBody"))
	content, required := r.object(described.get("content")), described.get("required") == true
	if r.second {
		content, required = r.swaggerBody()
	}
	if content == nil || len(content.names) == 0 {
		return
	}
	if !required && (r.Method == "GET" || r.Method == "HEAD" || r.Method == "DELETE") {
		return
	}
	name := best(content.names)
	media := r.object(content.get(name))
	text, why := r.content(name, media)
	switch {
	case why != "" && required:
		r.skip(why)
	case why == "":
		r.Body = text
		r.Headers = append(r.Headers, [2]string{"Content-Type", r.contentType(name)})
	}
}

// swaggerBody is the content of a body of Swagger 2.0 as OpenAPI 3 would have it.
func (r *request) swaggerBody() (*object, bool) {
	types := r.operation.list("consumes")
	if len(types) == 0 {
		types = r.root.list("consumes")
	}
	media, required := &object{}, true
	if r.form != nil {
		fields := &object{}
		var names []any
		for _, name := range r.form.names {
			fields.set(name, r.form.values[name].(*object).without("required"))
			names = append(names, name)
		}
		schema := &object{}
		schema.set("type", "object")
		schema.set("properties", fields)
		schema.set("required", names)
		media.set("schema", schema)
		if len(types) == 0 {
			types = []any{"application/x-www-form-urlencoded"}
		}
	}
	for _, p := range r.parameters() {
		if p.text("in") == "body" {
			media.set("schema", p.get("schema"))
			if example := p.get("x-example"); example != nil {
				media.set("example", example)
			}
			required = p.get("required") == true
		}
	}
	if media.get("schema") == nil {
		return nil, false
	}
	content := &object{}
	for _, one := range types {
		content.set(plain(one), media)
	}
	if len(content.names) == 0 {
		content.set("application/json", media)
	}
	return content, required
}

// best is the media type that is made most easily.
func best(names []string) string {
	for _, wanted := range []func(string) bool{
		isJSON,
		func(name string) bool { return name == formType },
		func(name string) bool { return name == partsType },
		func(name string) bool { return strings.HasPrefix(name, "text/plain") },
	} {
		for _, name := range names {
			if wanted(base(name)) {
				return name
			}
		}
	}
	return names[0]
}

const (
	formType  = "application/x-www-form-urlencoded"
	partsType = "multipart/form-data"
	boundary  = "millicore-part"
)

func base(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), ";")
	return strings.TrimSpace(name)
}

func isJSON(name string) bool {
	return strings.HasSuffix(name, "/json") || strings.HasSuffix(name, "+json") || name == "*/*" || name == "application/*"
}

func (r *request) contentType(name string) string {
	switch {
	case base(name) == partsType:
		return partsType + "; boundary=" + boundary
	case strings.Contains(name, "*"):
		return "application/json"
	}
	return name
}

// content is the text of a body of a media type, or why there is none.
func (r *request) content(name string, media *object) (text, why string) {
	value, ok := r.example(media)
	kind := base(name)
	if whole, isText := value.(string); ok && isText && (!isJSON(kind) || json.Valid([]byte(whole)) && strings.ContainsAny(whole, "{[")) {
		return whole, ""
	}
	readable := isJSON(kind) || kind == formType || kind == partsType || strings.HasPrefix(kind, "text/plain")
	if !readable {
		return "", fmt.Sprintf("with a body of type %s", cut(kind))
	}
	if !ok {
		if value, ok = r.schema(media.get("schema")); !ok {
			return "", endless
		}
	}
	if isJSON(kind) {
		return compact(value), ""
	}
	fields, isObject := value.(*object)
	switch {
	case !isObject && strings.HasPrefix(kind, "text/plain"):
		return flat(value), ""
	case !isObject:
		return "", fmt.Sprintf("with a body of type %s that is no object", cut(kind))
	case kind == formType:
		encoding := r.object(media.get("encoding"))
		var pairs []string
		for _, name := range fields.names {
			pairs = append(pairs, styleOf(r.object(encoding.get(name)), "query").query(name, fields.values[name])...)
		}
		return strings.Join(pairs, "&"), ""
	case kind == partsType:
		return r.parts(fields, r.object(media.get("schema"))), ""
	}
	return compact(value), ""
}

// parts is a form of several parts (RFC 7578). Fields that the schema has as binary are files.
func (r *request) parts(fields, schema *object) string {
	var b strings.Builder
	properties := r.object(schema.get("properties"))
	for _, name := range fields.names {
		value := fields.values[name]
		for _, one := range several(value) {
			p := r.object(properties.get(name))
			if p.get("items") != nil {
				p = r.object(p.get("items"))
			}
			fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=%q", boundary, name)
			switch _, isObject := one.(*object); {
			case p.text("format") == "binary", p.text("type") == "file", p.get("contentMediaType") != nil:
				b.WriteString("; filename=\"file\"\r\nContent-Type: application/octet-stream")
			case isObject:
				b.WriteString("\r\nContent-Type: application/json")
			}
			fmt.Fprintf(&b, "\r\n\r\n%s\r\n", flat(one))
		}
	}
	return b.String() + "--" + boundary + "--\r\n"
}

func several(value any) []any {
	if all, isList := value.([]any); isList {
		return all
	}
	return []any{value}
}
