package openapi

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// shown is an operation in one line: METHOD URL [Name: value; …] body, and what is not known.
func shown(o *Operation) string {
	if o.Skipped != "" {
		return o.Name + " skipped: " + o.Skipped
	}
	line := o.Method + " " + o.URL
	if len(o.Headers) > 0 {
		var all []string
		for _, h := range o.Headers {
			all = append(all, h[0]+": "+h[1])
		}
		line += " [" + strings.Join(all, "; ") + "]"
	}
	if o.Body != "" {
		line += " " + o.Body
	}
	if len(o.MadeUp) > 0 {
		line += " (made up)"
	}
	if len(o.Needs) > 0 {
		line += " needs " + strings.Join(o.Needs, " and ")
	}
	return line
}

func wantOperations(t *testing.T, text string, want ...string) {
	t.Helper()
	var got []string
	err := Read([]byte(text), How{All: true}, func(o *Operation) bool {
		got = append(got, shown(o))
		return true
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\n got %s\nwant %s", err, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestOpenAPI30(t *testing.T) {
	wantOperations(t, `
openapi: 3.0.3
info: {title: Shop, version: "1"}
servers:
- url: https://{region}.shop.example/{base}/
  variables: {region: {default: eu}, base: {enum: [v1, v2]}}
security: [{token: []}]
paths:
  /orders/{id}:
    parameters:
    - {name: id, in: path, required: true, schema: {type: integer, format: int64, minimum: 100}}
    - {name: trace, in: header, schema: {type: string}}
    get:
      parameters:
      - {$ref: '#/components/parameters/fields'}
      - {name: from, in: query, required: true, schema: {type: string, format: date}}
      - {name: page, in: query, schema: {type: integer, default: 1}}
      - {name: tags, in: query, explode: false, schema: {type: array, items: {type: string}}, example: [a b, c]}
      - {name: near, in: query, style: deepObject, required: true, schema: {type: object, example: {lat: 1.5, lon: 2}}}
      - {name: X-Request-ID, in: header, required: true, schema: {type: string, format: uuid}}
      - {name: Accept, in: header, required: true, schema: {type: string}}
      - {name: session, in: cookie, required: true, schema: {enum: [s1, s2]}}
    put:
      security: []
      servers: [{url: /other}]
      requestBody:
        content:
          application/xml: {schema: {type: string}}
          application/json:
            examples:
              none: {externalValue: https://files.example/a.json}
              first: {$ref: '#/components/examples/first'}
  /files:
    post:
      security: [{}, {token: []}]
      requestBody:
        required: true
        content:
          application/x-www-form-urlencoded:
            schema:
              type: object
              required: [name, sizes]
              properties:
                name: {type: string, maxLength: 3}
                sizes: {type: array, minItems: 2, items: {type: integer, maximum: 0, exclusiveMaximum: true}}
                note: {type: string}
                kind: {type: string, example: a&b}
    delete: {security: [{key: []}, {basic: [], cookie: []}], responses: {}}
components:
  parameters:
    fields: {name: fields, in: query, schema: {type: array, items: {type: string}}, examples: {two: {value: [id, "total €"]}}}
  examples:
    first: {value: {id: 7, note: '<a>', paid: true, at: 2026-02-03}}
  securitySchemes:
    token: {type: http, scheme: bearer}
    key: {type: apiKey, in: query, name: api_key}
    basic: {type: http, scheme: basic}
    cookie: {type: apiKey, in: cookie, name: sid}
`,
		"GET https://eu.shop.example/v1/orders/100?fields=id&fields=total%20%E2%82%AC&from=2026-01-01&tags=a%20b,c&near%5Blat%5D=1.5&near%5Blon%5D=2 [X-Request-ID: 3fa85f64-5717-4562-b3fc-2c963f66afa6; Cookie: session=s1] (made up) needs --header 'Authorization: Bearer TOKEN'",
		`PUT /other/orders/100 [Content-Type: application/json] {"id":7,"note":"<a>","paid":true,"at":"2026-02-03"} (made up)`,
		"POST https://eu.shop.example/v1/files [Content-Type: application/x-www-form-urlencoded] name=str&sizes=-1&sizes=-1&kind=a%26b (made up)",
		"DELETE https://eu.shop.example/v1/files needs --header 'Authorization: Basic USER:PASSWORD in base64' and --header 'Cookie: sid=KEY'")
}

// Given values replace those of the document, also where it does not describe the
// parameter. A key that is given is no credential that lacks.
func TestGivenValues(t *testing.T) {
	const text = `
openapi: 3.0.3
security: [{token: []}, {key: []}]
paths:
  /r/{owner}/{repo}:
    get:
      parameters:
      - {name: repo, in: path, required: true, schema: {type: integer}, example: 7}
      - {name: page, in: query, schema: {type: integer}}
      - {name: X-Trace, in: header, required: true, schema: {type: string}}
      - {name: sid, in: cookie, schema: {type: string}}
      - {name: left, in: query, schema: {type: string}}
  /open: {get: {security: [], parameters: [{name: n, in: query, required: true, schema: {type: integer}}]}}
components:
  securitySchemes:
    token: {type: http, scheme: bearer}
    key: {type: apiKey, in: query, name: api key}
`
	values := map[string]string{"owner": "golang", "repo": "a/b", "page": "2", "X-Trace": "t,1", "sid": "s", "api key": "k&1"}
	var got []string
	err := Read([]byte(text), How{Values: values}, func(o *Operation) bool {
		got = append(got, shown(o)+" "+strings.Join(o.MadeUp, ","))
		return true
	})
	want := []string{"GET /r/golang/a%2Fb?page=2&api%20key=k%261 [X-Trace: t,1; Cookie: sid=s] ", "GET /open?n=1 (made up) n"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\n got %s\nwant %s", err, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	values["ownr"] = "x"
	if err := Read([]byte(text), How{Values: values}, func(*Operation) bool { return true }); err == nil || err.Error() != `no operation that is sent has the parameter "ownr"` {
		t.Error(err)
	}
	wantGiven(t, "swagger: '2.0'\npaths: {/a: {post: {parameters: [{name: f, in: formData, type: integer}, {name: g, in: formData, type: string}]}}}", map[string]string{"f": "a b"},
		"POST /a [Content-Type: application/x-www-form-urlencoded] f=a%20b")
}

func wantGiven(t *testing.T, text string, values map[string]string, want string) {
	t.Helper()
	if err := Read([]byte(text), How{All: true, Values: values}, func(o *Operation) bool {
		if got := shown(o); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		return true
	}); err != nil {
		t.Error(err)
	}
}

// Schemas of a few bytes can stand for any amount of work, which is bounded.
func TestWorkIsBounded(t *testing.T) {
	var parts, names []string
	for range 1_000 {
		parts, names = append(parts, `{"title": "x"}`), append(names, fmt.Sprintf(`"k%d": {"type": "string"}`, len(names)))
	}
	for name, c := range map[string][2]string{
		"repeats of nothing":      {`{"type": "string", "pattern": "((()*)*)*", "minLength": 9000}`, "GET /a?q=%22stringxx"},
		"a text that never grows": {`{"type": "string", "pattern": "a", "minLength": 9000}`, "GET /a?q=%22stringxx"},
		"a list of merged parts":  {`{"type": "array", "minItems": 9000, "items": {"allOf": [` + strings.Join(parts, ",") + `]}}`, "GET /a skipped: " + endless},
		"a list of large objects": {`{"type": "array", "minItems": 9000, "items": {"type": "object", "properties": {` + strings.Join(names, ",") + `}}}`, "GET /a skipped: " + endless},
	} {
		err := Read([]byte(`{"openapi": "3.0.0", "paths": {"/a": {"get": {"parameters": [{"name": "q", "in": "query", "required": true, "content": {"application/json": {"schema": `+c[0]+`}}}]}}}}`),
			How{}, func(o *Operation) bool {
				if got := shown(o); !strings.HasPrefix(got, c[1]) {
					t.Errorf("%s: %.80s", name, got)
				}
				return true
			})
		if err != nil {
			t.Error(err)
		}
	}
	steps := 0
	b := expansion{steps: &steps}
	if parsed, err := syntax.Parse("((()*)*)*", syntax.Perl); err != nil || b.expand(parsed, 9000) || steps != mostSteps+1 {
		t.Errorf("%v, %d steps", err, steps)
	}
}

func TestOpenAPI31(t *testing.T) {
	wantOperations(t, `{"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "webhooks": {"new": {"post": {}}}, "paths": {
 "/items/{item-id}/{kind}": {"$ref": "#/components/pathItems/item"},
 "/search": {"query": {"requestBody": {"required": true, "content": {"application/json; charset=utf-8": {"schema": {"$ref": "#/components/schemas/Search"}}}}}},
 "x-hidden": {"get": {}}
}, "components": {"pathItems": {"item": {"get": {
   "security": [{"oauth": ["read"]}],
   "parameters": [
    {"name": "item-id", "in": "path", "required": true, "schema": {"type": "string", "pattern": "^[a-z]{3}-\\d+$", "minLength": 7}},
    {"name": "kind", "in": "path", "required": true, "schema": {"$ref": "#/components/schemas/Kind", "default": "book"}},
    {"name": "limit", "in": "query", "required": true, "schema": {"type": ["null", "integer"], "exclusiveMinimum": 10, "multipleOf": 5}},
    {"name": "q", "in": "query", "schema": {"anyOf": [{"type": "string"}, {"type": "null"}], "examples": ["tea & milk"]}},
    {"name": "filter", "in": "query", "required": true, "content": {"application/json": {"schema": {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}}}}
   ]}}},
  "securitySchemes": {"oauth": {"type": "oauth2"}},
  "schemas": {"Kind": {"type": "string", "enum": ["tea", "book"]},
   "Search": {"type": "object", "required": ["pet", "tree", "when", "id"], "properties": {
     "id": {"type": "integer", "readOnly": true}, "when": {"type": "string", "format": "date-time"},
     "pet": {"oneOf": [{"type": "null"}, {"$ref": "#/components/schemas/Cat"}], "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/components/schemas/Cat"}}},
     "tree": {"$ref": "#/components/schemas/Tree"}}},
   "Pet": {"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}}, "example": {"kind": "any"}},
   "Cat": {"allOf": [{"$ref": "#/components/schemas/Pet"}, {"type": "object", "required": ["lives"], "properties": {"lives": {"type": "integer", "minimum": 0, "maximum": 9}, "colour": {"type": "string", "examples": ["red"]}}}]},
   "Tree": {"type": "object", "required": ["name", "branches"], "properties": {"name": {"type": "string"}, "parent": {"$ref": "#/components/schemas/Tree"}, "branches": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}}}
 }}}`,
		"GET /items/aaa-111/book?limit=15&q=tea%20%26%20milk&filter=%7B%22a%22%3A1%7D (made up) needs --header 'Authorization: Bearer TOKEN'",
		`QUERY /search [Content-Type: application/json; charset=utf-8] {"when":"2026-01-01T00:00:00Z","pet":{"kind":"cat","lives":1,"colour":"red"},"tree":{"name":"string","branches":[]}} (made up)`)
}

func TestSwagger2(t *testing.T) {
	wantOperations(t, `
swagger: "2.0"
host: shop.example:8080
basePath: /v2
schemes: [https]
consumes: [application/json]
securityDefinitions: {key: {type: apiKey, in: header, name: X-Key}, flow: {type: oauth2}}
definitions:
  Order: {type: object, required: [id, lines], properties: {id: {type: integer}, lines: {type: array, items: {$ref: '#/definitions/Line'}}}}
  Line: {type: object, properties: {sku: {type: string, example: A1}}}
paths:
  /orders:
    get:
      security: [{key: []}]
      schemes: [http]
      parameters:
      - {name: state, in: query, required: true, type: array, items: {type: string}, enum: [[open, paid]], collectionFormat: pipes}
      - {name: limit, in: query, type: integer, x-example: 20}
      - {name: sort, in: query, type: string, default: id}
    post:
      parameters: [{name: order, in: body, required: true, schema: {$ref: '#/definitions/Order'}}]
  /orders/{id}/file:
    parameters: [{name: id, in: path, required: true, type: string, default: o 1/2}]
    post:
      consumes: [multipart/form-data]
      parameters:
      - {name: file, in: formData, required: true, type: file}
      - {name: title, in: formData, required: true, type: string, default: a}
      - {name: note, in: formData, type: string}
`,
		"GET http://shop.example:8080/v2/orders?state=open%7Cpaid&limit=20 needs --header 'X-Key: KEY'",
		`POST https://shop.example:8080/v2/orders [Content-Type: application/json] {"id":1,"lines":[{"sku":"A1"}]} (made up)`,
		"POST https://shop.example:8080/v2/orders/o%201%2F2/file [Content-Type: multipart/form-data; boundary=millicore-part] "+
			"--millicore-part\r\nContent-Disposition: form-data; name=\"file\"; filename=\"file\"\r\nContent-Type: application/octet-stream\r\n\r\nstring\r\n"+
			"--millicore-part\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\na\r\n--millicore-part--\r\n (made up)")
}

func TestOperationsWithoutARequest(t *testing.T) {
	const text = `
openapi: 3.0.0
paths:
  /a/{b}: {get: {}}
  c: {get: {}}
  /d#e: {get: {}}
  /f: {get: {servers: [{url: 'https://{host}/'}]}}
  /g: {post: {requestBody: {required: true, content: {image/png: {}}}}}
  /h: {post: {requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Endless'}}}}}}
  /i: {post: {requestBody: {content: {application/xml: {schema: {type: object}}}}}}
components: {schemas: {Endless: {type: object, required: [next], properties: {next: {$ref: '#/components/schemas/Endless'}}}}}
`
	wantOperations(t, text,
		"GET /a/{b} skipped: with a part of the path that is not described",
		"GET c skipped: whose path does not begin with /",
		"GET /d#e skipped: whose path has a #",
		"GET /f skipped: of a server whose URL has a variable without a default",
		"POST /g skipped: with a body of type image/png",
		"POST /h skipped: with a schema whose value has no end, or more than 10000 parts",
		"POST /i")
	var skipped []string
	if err := Read([]byte(text), How{}, func(o *Operation) bool {
		skipped = append(skipped, o.Skipped)
		return o.Method != "POST"
	}); err != nil || len(skipped) != 5 || skipped[4] != "that may change data (--all-methods sends them)" {
		t.Errorf("%q, %v", skipped, err)
	}
}

// Values of schemas, of which each is the body of a request.
func TestValues(t *testing.T) {
	for schema, want := range map[string]string{
		`{}`: `"string"`,
		`{"oneOf": [{"$ref": "#/x-known"}], "discriminator": {"propertyName": "t"}}`:                                                                               `{"t":"k","n":[]}`,
		`{"oneOf": [{"$ref": "#/x-unknown"}], "discriminator": {"propertyName": "t"}}`:                                                                             `{"n":1,"t":"x-unknown"}`,
		`{"type": "array", "minItems": 2, "items": {"oneOf": [{"$ref": "#/x-unknown"}], "discriminator": {"propertyName": "t", "mapping": {"u": "#/x-unknown"}}}}`: `[{"n":1,"t":"u"},{"n":1,"t":"u"}]`,
		`{"type": "int"}`:                                   `1`,
		`{"type": "boolean"}`:                               `false`,
		`{"type": "string", "minLength": 8}`:                `"stringxx"`,
		`{"type": "string", "format": "email"}`:             `"user@example.com"`,
		`{"type": "string", "pattern": "^(?!x).*$"}`:        `"string"`,
		`{"type": "string", "pattern": "^#[0-9A-F]{6}$"}`:   `"#111111"`,
		`{"type": "string", "pattern": "^[^a-z]?(ab|c)+$"}`: `"ab"`,
		`{"type": "number", "minimum": 0, "maximum": 1, "exclusiveMinimum": true, "exclusiveMaximum": true}`:                  `0.5`,
		`{"type": "integer", "minimum": -5, "maximum": -3}`:                                                                   `-3`,
		`{"type": "integer", "multipleOf": 7}`:                                                                                `7`,
		`{"type": "array", "prefixItems": [{"type": "integer"}, {"const": "a"}], "minItems": 2, "maxItems": 2}`:               `[1,"a"]`,
		`{"type": "array", "maxItems": 0}`:                                                                                    `[]`,
		`{"minItems": 2, "items": {"enum": [null, "a"]}}`:                                                                     `["a","a"]`,
		`{"required": ["a"], "additionalProperties": {"type": "integer"}}`:                                                    `{"a":1}`,
		`{"properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}`:                      `{"a":"string"}`,
		`{"allOf": [{"properties": {"a": {"default": 1}}, "required": ["a"], "example": {"a": 2}}], "description": "x"}`:      `{"a":2}`,
		`{"type": "object", "default": null, "example": {"z": [1, {"y": null}], "a": "é\u2028</script>"}}`:                    `{"z":[1,{"y":null}],"a":"é\u2028</script>"}`,
		`{"oneOf": [{"$ref": "#/x-loop"}, {"type": "integer"}]}`:                                                              `1`,
		`{"properties": {"a": {"$ref": "#/x-loop"}, "b": {"$ref": "#/x-loop", "example": 3}}, "required": ["b"]}`:             `{"b":3}`,
		`{"allOf": [{"$ref": "#/x-self"}]}`:                                                                                   `{"id":1}`,
		`{"type": "array", "items": {"allOf": [{"$ref": "#/x-self"}, {"required": ["up"], "properties": {"up": {}}}]}}`:       `[{"id":1,"up":"string"}]`,
		`{"type": "object", "required": ["a"], "properties": {"a": {"type": "object", "allOf": [{"$ref": "#/x-children"}]}}}`: `{"a":{"children":[]}}`,
	} {
		text := `{"openapi": "3.1.0", "paths": {"/": {"post": {"requestBody": {"required": true, "content": {"*/*": {"schema": ` + schema + `}}}}}},
 "x-known": {"example": {"t": "k", "n": []}}, "x-unknown": {"example": {"n": 1}},
 "x-loop": {"type": "object", "required": ["again"], "properties": {"again": {"$ref": "#/x-loop"}}},
 "x-self": {"allOf": [{"$ref": "#/x-self"}, {"$ref": "#/x-id"}]}, "x-id": {"required": ["id"], "properties": {"id": {"const": 1}}},
 "x-children": {"required": ["children"], "properties": {"children": {"type": "array", "items": {"allOf": [{"$ref": "#/x-children"}]}}}}}`
		err := Read([]byte(text), How{All: true}, func(o *Operation) bool {
			if o.Body != want || o.Skipped != "" {
				t.Errorf("%s\n got %s %s\nwant %s", schema, o.Body, o.Skipped, want)
			}
			return true
		})
		if err != nil {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

// Parameters in the styles of OpenAPI 3.1, section 4.8.12.4.
func TestStyles(t *testing.T) {
	const list, object = `"schema": {"type": "array"}, "example": ["blue", "black"]`, `"schema": {"type": "object"}, "example": {"R": 100, "G": 200}`
	for parameter, want := range map[string]string{
		`"in": "path", ` + list: "/blue,black",
		`"in": "path", "style": "label", "explode": true, ` + list:                 "/.blue.black",
		`"in": "path", "style": "label", ` + object:                                "/.R,100,G,200",
		`"in": "path", "style": "matrix", ` + list:                                 "/;p=blue,black",
		`"in": "path", "style": "matrix", "explode": true, ` + list:                "/;p=blue;p=black",
		`"in": "path", "style": "matrix", "explode": true, ` + object:              "/;R=100;G=200",
		`"in": "path", "explode": true, ` + object:                                 "/R=100,G=200",
		`"in": "query", ` + list:                                                   "/{;p*}?p=blue&p=black",
		`"in": "query", ` + object:                                                 "/{;p*}?R=100&G=200",
		`"in": "query", "explode": false, ` + object:                               "/{;p*}?p=R,100,G,200",
		`"in": "query", "style": "spaceDelimited", "explode": false, ` + list:      "/{;p*}?p=blue%20black",
		`"in": "query", "style": "pipeDelimited", "explode": false, ` + list:       "/{;p*}?p=blue%7Cblack",
		`"in": "query", "style": "deepObject", ` + object:                          "/{;p*}?p%5BR%5D=100&p%5BG%5D=200",
		`"in": "query", "style": "deepObject", "example": {"a": [1, {"b": true}]}`: "/{;p*}?p%5Ba%5D%5B%5D=1&p%5Ba%5D%5B%5D%5Bb%5D=true",
	} {
		text := `{"openapi": "3.1.0", "paths": {"/{;p*}": {"get": {"parameters": [{"name": "p", ` + parameter + `}, {"name": "p", "in": "path", "example": "{p}"}]}}}}`
		err := Read([]byte(text), How{All: true}, func(o *Operation) bool {
			if got := strings.Replace(o.URL, "/%7Bp%7D", "/{;p*}", 1); got != want {
				t.Errorf("%s\n got %s\nwant %s", parameter, got, want)
			}
			return true
		})
		if err != nil {
			t.Errorf("%s: %v", parameter, err)
		}
	}
}

func TestAnchors(t *testing.T) {
	wantOperations(t, `
openapi: 3.0
x-common: &common {operationId: a, security: &none []}
x-name: &name /b
paths:
  /a: {get: {<<: *common, parameters: [&p {name: n, in: query, example: 0x10}]}}
  *name : {get: {<<: [*common, {parameters: [*p, *p]}]}}
`, "GET /a?n=16", "GET /b?n=16")
}
