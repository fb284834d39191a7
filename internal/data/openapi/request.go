package openapi

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// request makes the request of an operation.
type request struct {
	Operation
	*document
	second    bool // Swagger 2.0
	item      *object
	path      string
	operation *object
	query     []string // pairs, encoded
	form      *object  // of Swagger 2.0, with the schemas of its fields
	open      []string // references whose schemas are being followed
	instance  int      // where those of the present value begin in it
	values    int      // made so far
	work      int      // names of schemas that were read for them
	guessed   bool     // one of them is made up
	taken     []string // names of the given values in it
}

func (r *request) fill(operation *object) {
	r.operation = operation
	switch {
	case !strings.HasPrefix(r.path, "/"):
		r.Skipped = "whose path does not begin with /"
	case strings.Contains(r.path, "#"):
		r.Skipped = "whose path has a #"
	}
	path := r.path
	base, ok := r.base()
	if !ok {
		r.skip("of a server whose URL has a variable without a default")
	}
	for _, p := range r.parameters() {
		if r.Skipped == "" {
			r.parameter(p, &path)
		}
	}
	path = template.ReplaceAllStringFunc(path, func(part string) string {
		if value, given := r.take(strings.Trim(part, "{}")); given {
			return url.PathEscape(value)
		}
		return part
	})
	if r.Skipped == "" && template.MatchString(path) {
		r.skip("with a part of the path that is not described")
	}
	if r.Skipped == "" {
		r.body()
		r.noteMadeUp("the body")
	}
	if r.Skipped != "" {
		return
	}
	r.credentials()
	for _, name := range r.taken {
		r.used[name] = true
	}
	if r.URL = strings.TrimSuffix(base, "/") + path; len(r.query) > 0 {
		join := "?"
		if strings.Contains(path, "?") {
			join = "&"
		}
		r.URL += join + strings.Join(r.query, "&")
	}
}

var template = regexp.MustCompile(`\{[^{}]*\}`)

// take is the given value of a parameter, which is used then.
func (r *request) take(name string) (string, bool) {
	value, given := r.given[name]
	if given {
		r.taken = append(r.taken, name)
	}
	return value, given
}

// noteMadeUp notes that the values since the last note were made up, if one was.
func (r *request) noteMadeUp(what string) {
	if r.guessed && !slices.Contains(r.MadeUp, what) {
		r.MadeUp = append(r.MadeUp, what)
	}
	r.guessed = false
}

func (r *request) skip(why string) { r.Skipped = cmp.Or(r.Skipped, why) }

// base is the URL of the first server, or its path if it names no host.
func (r *request) base() (string, bool) {
	if r.second {
		path := "/" + strings.Trim(r.root.text("basePath"), "/")
		host := r.root.text("host")
		if host == "" {
			return path, true
		}
		scheme := "http"
		schemes := r.operation.list("schemes")
		if len(schemes) == 0 {
			schemes = r.root.list("schemes")
		}
		if len(schemes) > 0 && !slices.Contains(schemes, any("http")) {
			scheme = plain(schemes[0])
		}
		return scheme + "://" + host + path, true
	}
	var server *object
	for _, from := range []*object{r.root, r.item, r.operation} {
		if all := from.list("servers"); len(all) > 0 {
			server = r.object(all[0])
		}
	}
	variables := r.object(server.get("variables"))
	link := template.ReplaceAllStringFunc(server.text("url"), func(name string) string {
		variable := r.object(variables.get(strings.Trim(name, "{}")))
		value := plain(variable.get("default"))
		if all := variable.list("enum"); value == "" && len(all) > 0 {
			value = plain(all[0])
		}
		return cmp.Or(value, name)
	})
	switch {
	case template.MatchString(link):
		return "", false
	case strings.HasPrefix(link, "//"):
		return "https:" + link, true
	case strings.Contains(link, "://"):
		return link, true
	}
	return "/" + strings.Trim(strings.TrimPrefix(link, "."), "/"), true
}

// parameters are those of the operation, and those of its path that it does not replace.
func (r *request) parameters() []*object {
	var all []*object
	seen := map[[2]string]bool{}
	for _, from := range []*object{r.operation, r.item} {
		for _, one := range from.list("parameters") {
			p := r.object(one)
			key := [2]string{p.text("in"), p.text("name")}
			if p == nil || seen[key] {
				continue
			}
			seen[key] = true
			all = append(all, p)
		}
	}
	return all
}

// schemes are the schemes of security.
func (d *document) schemes(second bool) *object {
	if second {
		return d.object(d.root.get("securityDefinitions"))
	}
	return d.object(d.object(d.root.get("components")).get("securitySchemes"))
}

// keys are the names of the headers, cookies and query parameters that have keys.
func (d *document) keys(schemes *object) (names []string) {
	for _, name := range namesOf(schemes) {
		if scheme := d.object(schemes.get(name)); scheme.text("type") == "apiKey" && scheme.text("name") != "" {
			names = append(names, scheme.text("name"))
		}
	}
	d.err = nil // a scheme that cannot be read is an error where it is used
	return names
}

// credentials finds what the operation needs of the first alternative of its security, a
// header if there is a choice.
func (r *request) credentials() {
	alternatives, has := r.operation.get("security").([]any)
	if !has {
		alternatives = r.root.list("security")
	}
	alternatives = slices.Clone(alternatives[:min(mostSchemes, len(alternatives))])
	schemes := r.schemes(r.second)
	// An alternative whose key is given comes before the others.
	slices.SortStableFunc(alternatives, func(a, b any) int { return cmp.Compare(r.lacking(schemes, a), r.lacking(schemes, b)) })
	var first []string
	for _, one := range alternatives {
		var needs []string
		for _, name := range r.schemesOf(one) {
			scheme := r.object(schemes.get(name))
			if r.key(scheme) {
				continue
			}
			if need := credential(name, scheme); !slices.Contains(needs, need) {
				needs = append(needs, need)
			}
		}
		if len(needs) == 0 {
			return // it may stay without, or its key is given
		}
		headers := !slices.ContainsFunc(needs, func(need string) bool { return !strings.HasPrefix(need, "--header ") })
		if headers {
			first = needs
			break
		}
		if first == nil {
			first = needs
		}
	}
	for _, need := range first {
		if !slices.Contains(r.Needs, need) {
			r.Needs = append(r.Needs, need)
		}
	}
}

// mostSchemes bounds the alternatives of an operation's security that are read, and the schemes
// of each: no service has so many, and each operation reads them.
const mostSchemes = 100

// schemesOf are the names of the schemes of an alternative.
func (r *request) schemesOf(alternative any) []string {
	names := namesOf(r.object(alternative))
	return names[:min(mostSchemes, len(names))]
}

// lacking is 0 of an alternative of which all keys are given, and 1 of another.
func (r *request) lacking(schemes *object, alternative any) int {
	names := r.schemesOf(alternative)
	for _, name := range names {
		scheme := r.object(schemes.get(name))
		if _, given := r.given[scheme.text("name")]; !given || scheme.text("type") != "apiKey" {
			return 1
		}
	}
	return min(1, max(0, 1-len(names)))
}

// key sends the key of a scheme, if it is given.
func (r *request) key(scheme *object) bool {
	if scheme.text("type") != "apiKey" {
		return false
	}
	in, name := scheme.text("in"), scheme.text("name")
	value, given := r.take(name)
	// It may also be described as a parameter, which has placed it.
	header := [2]string{name, value}
	if in == "cookie" {
		header = [2]string{"Cookie", escaped(name) + "=" + escaped(value)}
	}
	pair := escaped(name) + "=" + escaped(value)
	if given && in == "query" && !slices.Contains(r.query, pair) || given && in != "query" && !slices.Contains(r.Headers, header) {
		r.place(in, name, value, style{}, nil)
	}
	return given
}

// credential is what a security scheme needs.
func credential(name string, scheme *object) string {
	switch kind := scheme.text("type"); {
	case kind == "apiKey" && scheme.text("in") == "header":
		return fmt.Sprintf("--header '%s: KEY'", scheme.text("name"))
	case kind == "apiKey" && scheme.text("in") == "cookie":
		return fmt.Sprintf("--header 'Cookie: %s=KEY'", scheme.text("name"))
	case kind == "apiKey":
		return fmt.Sprintf("the query parameter %s (--param sets it)", scheme.text("name"))
	case kind == "basic", kind == "http" && strings.EqualFold(scheme.text("scheme"), "basic"):
		return "--header 'Authorization: Basic USER:PASSWORD in base64'"
	case kind == "mutualTLS":
		return "a certificate of the client"
	case kind == "oauth2", kind == "openIdConnect", kind == "http" && strings.EqualFold(scheme.text("scheme"), "bearer"):
		return "--header 'Authorization: Bearer TOKEN'"
	case kind == "http":
		return fmt.Sprintf("--header 'Authorization: %s …'", scheme.text("scheme"))
	}
	return "the scheme " + name
}

// escaped is a text in a query.
func escaped(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
