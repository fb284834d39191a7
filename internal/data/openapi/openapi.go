// Package openapi reads descriptions of HTTP services, OpenAPI 3.0, 3.1 and 3.2 and Swagger 2.0
// in JSON or YAML, and makes one request of each operation. Values come from the document's
// examples, defaults and enumerations, and else from types and formats. It is pure: it opens
// no file and no connection, so references to other documents are errors.
package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Operation is the request of an operation, or why there is none.
type Operation struct {
	Name    string // its method and path, as the document has them
	Method  string
	URL     string // or a path, if the document names no host
	Headers [][2]string
	Body    string
	Needs   []string // credentials, which no document has, as in "--header 'Authorization: Bearer TOKEN'"
	Keys    []string // names of headers, cookies and query parameters that have keys, of the whole document
	MadeUp  []string // parameters, or "the body", whose values are made up from types, so the service may refuse them
	Skipped string   // a reason, as in "with a body of type image/png"; "": it has a request
}

// safe are the methods that change no data (RFC 9110, section 9.2.1), in the order in which
// they are read, and changing those that may.
var (
	safe     = []string{"get", "head", "options", "query", "trace"}
	changing = []string{"post", "put", "patch", "delete"}
)

// How says how a description is read.
type How struct {
	All    bool              // also operations whose methods may change data
	Values map[string]string // of parameters, by their names, in place of those that the document has
}

// Read calls each for each operation, until it returns false. It is an error if no operation with
// a request has one of the parameters of How.
func Read(data []byte, how How, each func(*Operation) bool) error {
	tree, err := parse(data)
	if err != nil {
		return err
	}
	root, _ := tree.(*object)
	d := &document{root: root, given: how.Values, used: map[string]bool{}, texts: map[string]match{}}
	second, err := version(root)
	if err != nil {
		return err
	}
	paths, isObject := root.get("paths").(*object)
	if !isObject {
		return errors.New("it has no paths")
	}
	keys := d.keys(d.schemes(second))
	for _, path := range paths.names {
		if strings.HasPrefix(path, "x-") {
			continue
		}
		d.at = path
		item := d.object(paths.values[path])
		for _, method := range slices.Concat(safe, changing) {
			if _, has := item.get(method).(*object); !has {
				continue
			}
			r := &request{document: d, second: second, item: item, path: path}
			r.Method = strings.ToUpper(method)
			r.Name, r.Keys = r.Method+" "+path, keys
			if d.at = r.Name; slices.Contains(changing, method) && !how.All {
				r.Skipped = "that may change data (--all-methods sends them)"
			} else {
				r.fill(d.object(item.get(method)))
			}
			if d.err != nil || !each(&r.Operation) {
				return d.err
			}
		}
		if d.err != nil {
			return d.err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(how.Values)) {
		if !d.used[name] {
			return fmt.Errorf("no operation that is sent has the parameter %q", cut(name))
		}
	}
	return nil
}

// version reports whether a document is Swagger 2.0, in place of OpenAPI 3.
func version(root *object) (second bool, err error) {
	const known = "Swagger 2.0 and OpenAPI 3.0 to 3.2 are read"
	if text := plain(root.get("swagger")); text != "" {
		if text != "2.0" && text != "2" {
			return false, fmt.Errorf("it is Swagger %s; %s", cut(text), known)
		}
		return true, nil
	}
	text := plain(root.get("openapi"))
	switch old := plain(root.get("swaggerVersion")); {
	case text == "" && old != "":
		return false, fmt.Errorf("it is Swagger %s; %s", cut(old), known)
	case text == "":
		return false, errors.New("it has neither openapi nor swagger with a version, so it is not a description of a service")
	}
	for _, minor := range []string{"3.0", "3.1", "3.2"} {
		if text == minor || strings.HasPrefix(text, minor+".") {
			return false, nil
		}
	}
	return false, fmt.Errorf("it is OpenAPI %s; %s", cut(text), known)
}

// plain is a scalar as a text.
func plain(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return fmt.Sprint(v)
	}
	return ""
}

func namesOf(o *object) []string {
	if o == nil {
		return nil
	}
	return o.names
}

// cut shortens a text for an error.
func cut(text string) string {
	if len(text) > 80 {
		return strings.ToValidUTF8(text[:80], "") + "…"
	}
	return text
}
