package captured_test

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/data/captured"
	"github.com/millicore/millicore/internal/data/experiment/file"
)

// checkInput wants what is read to be sendable, and its counts to add up.
func checkInput(t *testing.T, in *captured.Input, err error) {
	if err != nil {
		if err.Error() == "" {
			t.Error("an error without words")
		}
		return
	}
	used := 0
	for i := range in.Requests {
		r := &in.Requests[i]
		used += r.Entries
		if r.Entries < 1 || r.Weight < 1 {
			t.Errorf("nothing has %+v", r)
		}
	}
	for _, s := range in.Skipped {
		used += s.Entries
	}
	if used != in.Entries {
		t.Errorf("%d of %d entries are used or skipped", used, in.Entries)
	}
	sent := in.For("")
	counted := sent.Entries
	for _, d := range sent.Dropped {
		counted += d.Entries
	}
	for _, s := range in.Skipped {
		counted += s.Entries
	}
	if counted != in.Entries {
		t.Errorf("%d of %d entries are sent, dropped or skipped", counted, in.Entries)
	}
	var mix []map[string]any
	for _, r := range in.Requests[:min(len(in.Requests), 20)] {
		one := map[string]any{"method": r.Method, "path": r.Path, "weight": r.Weight}
		if len(r.Headers) > 0 {
			one["headers"] = r.Headers
		}
		if r.Body != "" {
			one["body"] = r.Body
		}
		mix = append(mix, one)
	}
	var s file.Settings
	s.Set("", "name", "fuzz")
	s.Set("", "services.a", map[string]any{"command": []string{"x"}})
	s.Set("", "load.mix", mix)
	s.Set("", "load.rate", 1)
	if _, err := file.Build("fuzz", s, nil); err != nil {
		t.Errorf("an experiment refuses it: %v", err)
	}
}

func noFiles(name string) ([]byte, error) { return []byte(name), nil }

func fuzz(f *testing.F, format captured.Format, seeds ...string) {
	for _, text := range seeds {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		in, err := captured.Read(format, data, noFiles)
		checkInput(t, in, err)
		_, _ = captured.Detect(data)
		if err != nil && strings.Contains(err.Error(), "panic") {
			t.Error(err)
		}
	})
}

func FuzzCurl(f *testing.F) {
	fuzz(f, captured.Curl, `curl 'http://h/a?b=1' -H 'A: b' --data-raw $'\u0021\n' --compressed`, "curl ^\"http://h/^\" ^\r\n -d ^\"a^\n\nb^\"",
		`curl -u a:b -XPUT -G -d x=${y} "http://[::1]:80/{{q}}"`, `curl --json '{"a":1}' -b c=d -e r -A a h --url-query +x`, `curl -F a=@b;type=c -F 'd=<e' -F f=g h`, `curl -d @a --data-urlencode b@c h`)
}

func FuzzHAR(f *testing.F) {
	fuzz(f, captured.HAR, `{"log": {"entries": [{"request": {"method": "POST", "url": "https://u:p@h/{{x}}?y=ä#z", "headers": [{"name": "a", "value": "${b}"}, {"name": "A", "value": ""}], "postData": {"text": "x", "encoding": "base64", "params": [{"name": "a"}]}}}]}}`)
}

func FuzzTargets(f *testing.F) {
	fuzz(f, captured.Targets, "GET http://h/\nA: b\n@f\n\n# c\nPOST /x\n", `{"method": "GET", "url": "http://h/", "body": "eA==", "header": {"A": ["b", "c"]}}`)
}

func FuzzOpenAPI(f *testing.F) {
	fuzz(f, captured.AllOpenAPI, `{"openapi": "3.1.0", "paths": {"/a/{b}": {"post": {"security": [{"k": []}], "parameters": [{"name": "b", "in": "path", "schema": {"$ref": "#/x"}}, {"name": "{{q}}", "in": "query", "style": "deepObject", "example": {"a": [1]}}], "requestBody": {"content": {"application/json": {"schema": {"oneOf": [{"type": "null"}, {"$ref": "#/x"}], "discriminator": {"propertyName": "t"}}}}}}}}, "x": {"allOf": [{"$ref": "#/x"}, {"type": "object", "required": ["t"], "properties": {"t": {"pattern": "^[a-c]{3,}$"}}}]}}`,
		"swagger: '2.0'\nbasePath: /v1\nhost: h\npaths:\n  /a: &a\n    post:\n      consumes: [multipart/form-data]\n      parameters:\n      - {name: f, in: formData, type: file, required: true}\n      - {name: n, in: query, type: integer, minimum: 3, required: true, collectionFormat: csv}\n  /b: {<<: *a}\n",
		"openapi: 3.0.0\npaths: {/: {get: {parameters: [{in: header, name: a, example: {b: 2026-01-01, c: 0x1f, d: .inf, e: [~, yes]}}, {in: cookie, name: c, required: true, schema: {type: number, maximum: 0, exclusiveMaximum: true, multipleOf: 0.3}}]}}}")
}

func FuzzLines(f *testing.F) {
	fuzz(f, captured.Lines, `{"method": "PUT", "path": "/{{seq}}", "headers": {"A": 1, "a": "b"}, "body": "${x}", "weight": 3}`, `{"url": "http://h/"}`)
}
