package openapi

import (
	"strings"
	"testing"
)

func TestMalformedDocuments(t *testing.T) {
	const get = `{"openapi": "3.0.0", "paths": {"/a": {"get": {"parameters": [`
	for text, want := range map[string]string{
		"<html>":                                 "it has neither openapi nor swagger with a version, so it is not a description of a service",
		"[1]":                                    "it has neither openapi nor swagger with a version, so it is not a description of a service",
		"a: b: c":                                "it is not valid YAML: mapping values are not allowed in this context",
		"openapi: 3.0.0\npaths:\n\t/: {}":        "line 3: it is not valid YAML: found character that cannot start any token",
		"openapi: 3.0.0\n? [a]\n: b":             "line 2: want a name, not a list or a map",
		"openapi: 3.0.0\na: &a [*a]":             "line 2: the alias *a is part of what it stands for",
		"{\"openapi\": \"3.0.0\",\n\"paths\": {": "line 2: it is not valid JSON: unexpected EOF",
		`{"openapi": "3.0.0"} {}`:                "line 1: it is not valid JSON: something follows its end",
		"{\n\"openapi\" 3}":                      "line 2: it is not valid JSON: invalid character '3' after object key",
		`{"openapi": "3.0.0"}`:                   "it has no paths",
		`{"openapi": "4.0.0"}`:                   "it is OpenAPI 4.0.0; Swagger 2.0 and OpenAPI 3.0 to 3.2 are read",
		`{"swagger": 1.2}`:                       "it is Swagger 1.2; Swagger 2.0 and OpenAPI 3.0 to 3.2 are read",
		`{"swaggerVersion": "1.2"}`:              "it is Swagger 1.2; Swagger 2.0 and OpenAPI 3.0 to 3.2 are read",
		`{"openapi": "3.0.0", "paths": {"/a": {"$ref": "paths/a.yaml"}}}`:                                               `/a: $ref "paths/a.yaml" is in another file, and only this one is read; put all into one, as with redocly bundle`,
		get + `{"$ref": "https://h/p.json#/a"}]}}}}`:                                                                    `GET /a: $ref "https://h/p.json#/a" is in another file, and only this one is read; put all into one, as with redocly bundle`,
		get + `{"$ref": "#/components/parameters/x~1y"}]}}}}`:                                                           `GET /a: $ref "#/components/parameters/x~1y" names nothing in the document`,
		get + `{"name": "q", "in": "query", "required": true, "schema": {"$ref": "#/paths/~1a/get/parameters/1"}}]}}}}`: `GET /a: $ref "#/paths/~1a/get/parameters/1" names nothing in the document`,
		`{"openapi": "3.0.0", "paths": {"/a": {"$ref": "#/x"}}, "x": {"$ref": "#/y"}, "y": {"$ref": "#/x"}}`:            "/a: its references lead in a circle",
		strings.Repeat(`{"a":`, 1100):                                                                                   "it has more than 1000 levels",
		"a: " + strings.Repeat("[", 1100) + strings.Repeat("]", 1100):                                                   "it has more than 1000 levels",
		bomb(): "line 6: with its aliases it has more than 1000000 values",
	} {
		err := Read([]byte(text), How{All: true}, func(*Operation) bool { return true })
		if err == nil || err.Error() != want {
			t.Errorf("%.100q\n got %v\nwant %s", text, err, want)
		}
	}
}

// bomb is YAML whose aliases stand for 10^9 values.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n")
	for c := byte('1'); c <= '9'; c++ {
		b.WriteString("a" + string(c) + ": &a" + string(c) + " [" + strings.Repeat("*a"+string(c-1)+",", 9) + "*a" + string(c-1) + "]\n")
	}
	return b.String()
}

// Schemas can have exponentially many values.
func TestValuesAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("openapi: 3.0.0\npaths: {/: {post: {requestBody: {required: true, content: {application/json: {schema: {$ref: '#/s0'}}}}}}}\n")
	for c := byte('0'); c <= '8'; c++ {
		next := "{$ref: '#/s" + string(c+1) + "'}"
		b.WriteString("s" + string(c) + ": {type: array, minItems: 10, items: " + next + "}\n")
	}
	b.WriteString("s9: {type: integer}\n")
	wantOperations(t, b.String(), "POST / skipped: with a schema whose value has no end, or more than 10000 parts")
}
