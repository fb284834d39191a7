package captured

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// malformed are inputs of which each has one clear sentence.
var malformed = []struct {
	format     Format
	text, want string
}{
	{Curl, "", "it is empty"},
	{Curl, " \n", "it is empty"},
	{Curl, "curl", "line 1, column 1: the command has no URL"},
	{Curl, "wget http://h/", `line 1, column 1: "wget" is not curl; copy the request as cURL`},
	{Curl, `Invoke-WebRequest -Uri "http://h/"`, `line 1, column 1: "Invoke-WebRequest" is not curl; copy the request as cURL`},
	{Curl, "curl 'http://h/", "line 1, column 6: reached EOF without closing quote '"},
	{Curl, "curl \"http://h/$ID\"", "line 1, column 16: the variable $ID is not replaced, because nothing of a command is run; write its value"},
	{Curl, "curl http://h/ \\\n -H \"A: $(cat token)\"", "line 2, column 9: the output of another command is not replaced, because nothing of a command is run; write its value"},
	{Curl, "curl `cat url`", "line 1, column 6: the output of another command is not replaced, because nothing of a command is run; write its value"},
	{Curl, "curl http://h/$((1+1))", "line 1, column 15: this expression of the shell is not replaced, because nothing of a command is run; write its value"},
	{Curl, "curl -d @<(ls) http://h/", "line 1, column 10: this expression of the shell is not replaced, because nothing of a command is run; write its value"},
	{Curl, "curl http://h/x?a=1&b=2", "line 1, column 21: a & before this ends the curl command; put the URL into quotes"},
	{Curl, "curl http://h/ | jq .", "line 1, column 1: leave out what stands around the curl command, such as a pipe"},
	{Curl, "curl http://h/ > /dev/null", "line 1, column 16: leave out the redirection of the command"},
	{Curl, "TOKEN=x curl http://h/", "line 1, column 1: leave out the variables before the curl command"},
	{Curl, "for i in 1 2; do curl http://h/; done", "line 1, column 1: leave out what stands around the curl command, such as a pipe"},
	{Curl, "curl -F file=@no.png http://h/", "line 1, column 6: -F: no.png does not exist"},
	{Curl, "curl -F file http://h/", "line 1, column 6: -F: want name=content, name=@FILE or name=<FILE"},
	{Curl, "curl -F a=b -d c=d http://h/", "line 1, column 20: -F excludes -d and -G; keep one"},
	{Curl, "curl -sT a.png http://h/", "line 1, column 6: -T: a file is not sent; use --data-binary @FILE with -X PUT"},
	{Curl, "curl --frobnicate http://h/", "line 1, column 6: --frobnicate is not understood; leave it out if the request does not need it"},
	{Curl, "curl --heeder 'A: b' http://h/", "line 1, column 6: --heeder is not understood; did you mean --header?"},
	{Curl, "curl --data=x http://h/", "line 1, column 6: --data has its value behind =; write them as two words"},
	{Curl, "curl -s? http://h/", "line 1, column 6: -? is not understood; leave it out if the request does not need it"},
	{Curl, "curl http://h/ -H", "line 1, column 16: -H has no value"},
	{Curl, "curl http://h/ --data", "line 1, column 16: --data has no value"},
	{Curl, "curl http://h/ -H 'no header'", "line 1, column 16: -H: want 'Name: value'"},
	{Curl, "curl http://h/ -H @headers", "line 1, column 16: -H: a file of headers is not read; write each with -H"},
	{Curl, "curl http://h/ -d @no.json", "line 1, column 16: -d: no.json does not exist"},
	{Curl, "curl http://h/ -d @-", "line 1, column 16: -d: standard input is not read; name a file"},
	{Curl, "curl http://h/ --data-binary @-", "line 1, column 16: --data-binary: standard input is not read; name a file"},
	{Curl, "curl http://h/ -b cookies.txt", "line 1, column 16: -b: a file of cookies is not read; write them as name=value"},
	{Curl, "curl -u user http://h/", "line 1, column 14: -u has no password, for which curl would ask; write USER:PASSWORD"},
	{Curl, "curl 'http://h/{a,b}'", "line 1, column 6: the URL is a pattern of several; write each as a URL, or use -g"},
	{Curl, "curl -x http://proxy/ http://h/", "line 1, column 6: -x: requests are not sent by a proxy"},
	{Curl, "curl a --next b", "line 1, column 8: --next: write each request as a curl command of its own"},
	{Curl, "curl ftp://h/file", "it has no request that can be sent: 1 with a ftp: URL"},
	{Curl, "curl h -X FROB", `it has no request that can be sent: 1 with the method "FROB"`},
	{Curl, `curl h -d $'\u12zz\q'`, `line 1, column 11: \q in $'…' is not an escape of bash`},
	{Curl, "curl ^\"http://h/ ^\n", "line 1, column 7: this quote is not closed"},
	{Curl, "curl \"http://h/ ^\" \"", "line 1, column 20: this quote is not closed"},
	{Curl, "curl ^\"http://h/^\" | more", "line 1, column 20: leave out what stands around the curl command, such as a pipe"},
	{HAR, "", "it is empty"},
	{HAR, "\xff\xfe{\x00", "it is in UTF-16; save it as UTF-8"},
	{HAR, "<html>", "line 1: it is not valid JSON: invalid character '<' looking for beginning of value"},
	{HAR, `{"log": {"entries": [` + "\n" + `{"request": {"meth`, "line 2: it is not valid JSON: unexpected end of JSON input"},
	{HAR, `{"a": 1}`, "it has no log.entries, so it is not a HAR file"},
	{HAR, `[]`, "it has no log.entries, so it is not a HAR file"},
	{HAR, `{"log": {"entries": 5}}`, "it has no log.entries, so it is not a HAR file"},
	{HAR, `{"log": {"entries": []}}`, "it has no request"},
	{HAR, `{"log": {"entries": [{}, {"request": {"url": "data:,x"}}]}}`, "it has no request that can be sent: 1 without a request, 1 with a data: URL"},
	{HAR, `{"log": {"entries": [{"request": {"method": "GET", "url": "http://"}}]}}`, "it has no request that can be sent: 1 with a URL that cannot be read"},
	{HAR, `{"log": {"entries": [{"request": {"method": "GET", "url": "http://h/", "headers": [{"name": "a b", "value": "c"}]}}]}}`, "it has no request that can be sent: 1 with a header whose name is not valid"},
	{HAR, `{"log": {"entries": [{"request": {"method": "GET", "url": "http://h/", "headers": [{"name": "a", "value": "c\nd"}]}}]}}`, "it has no request that can be sent: 1 with a header whose value is not one line of text"},
	{Targets, "\n", "it is empty"},
	{Targets, "# only a comment\n", "it has no request"},
	{Targets, "hello", `line 1: "hello" is not a target; write METHOD URL, as in GET http://127.0.0.1:8080/items`},
	{Targets, "import http from 'k6/http'", "it is a script, and scripts are not run; docs/coming-from-k6.md has what a k6 script is here"},
	{Targets, "GET http://h/ HTTP/1.1", "line 1: a target is METHOD URL, as in GET http://127.0.0.1:8080/items; a URL has no spaces"},
	{Targets, "GET http://h/\nno header", `line 2: "no header" is neither a header, as in Accept: text/html, nor the file of a body, as in @body.json`},
	{Targets, "GET http://h/\n: x", `line 2: "" is neither a header, as in Accept: text/html, nor the file of a body, as in @body.json`},
	{Targets, "POST http://h/\n@", "line 2: @ names no file; write @body.json"},
	{Targets, "GET h/x", "it has no request that can be sent: 1 with a URL that cannot be read"},
	{Targets, `{"method": "GET"}`, "line 1: a target needs a method and a url"},
	{Targets, `{"method": "GET", "url": "http://h/", "body": "?"}`, "line 1: the body is not base64"},
	{Targets, `{"method": "GET", "url": "http://h/"}` + "\nGET http://h/", `line 2: want one JSON object on each line; this one begins with "GET http://h/"`},
	{Lines, `[{"path": "/"}]`, `line 1: want one JSON object on each line; this one begins with "[{\"path\": \"/\"}]"`},
	{Lines, "{\n  \"path\": \"/\"\n}", "line 1: want one JSON object on each line: unexpected end of JSON input"},
	{Lines, `{"path": "/"} {"path": "/"}`, "line 1: want one JSON object on each line: invalid character '{' after top-level value"},
	{Lines, `{"pth": "/"}`, `line 1: unknown key "pth"; did you mean "path"?`},
	{Lines, `{"method": "GET"}`, "line 1: a request needs a path or a url"},
	{Lines, `{"path": "/", "url": "http://h/"}`, "line 1: path and url exclude each other; keep one"},
	{Lines, `{"path": "x"}`, `line 1: "x": a path begins with /`},
	{Lines, `{"path": "/", "weight": 0}`, "line 1: weight: want a whole number from 1 to 999999999, not 0"},
	{Lines, `{"path": "/", "weight": 1.5}`, "line 1: weight: want a whole number from 1, not 1.5"},
	{Lines, `{"path": "/", "body": {"a": 1}}`, `line 1: body: want a text; write JSON as a text, as in "{\"id\": 7}", not {"a": 1}`},
	{Lines, `{"path": "/", "headers": {"a": null}}`, "line 1: headers: a: want a text"},
	{Lines, `{"path": "/", "headers": []}`, "line 1: headers: want an object with texts, not []"},
	{Lines, `{"path": "/", "think": "1s"}`, "line 1: think is for a step of a session; use --session"},
	{Lines, `{"path": "/", "check": 302}`, `line 1: check: want an object, as in {"status": [302]}, not 302`},
	{Session, `{"path": "/", "weight": 2}`, `line 1: unknown key "weight"; keys: method, path, url, headers, body, name, check, think, capture`},
	{Session, `{"path": "/", "think": 2}`, `line 1: think: want a duration as a text, as in "2s", not 2`},
	{Session, `{"path": "/", "capture": ["a"]}`, `line 1: capture: want an object with texts, as in {"token": "json:$.token"}, not ["a"]`},
	{Session, `{"path": "/"}` + "\n" + `{"url": "data:,x"}`, "a session needs each of its requests, and it has some that cannot be sent: 1 with a data: URL"},
	{Session, `{"url": "http://a/"}` + "\n" + `{"url": "http://b/"}`, "a session talks to one service, and its requests name the hosts a and b"},
	{OpenAPI, "", "it is empty"},
	{OpenAPI, `{"openapi": "3.0.0", "paths": {}}`, "it has no request"},
	{OpenAPI, `{"openapi": "3.0.0", "paths": {"/a": {"post": {}, "delete": {}}, "/b": {"post": {}, "trace": {}}}}`,
		`it has no request that can be sent: 3 that may change data (--all-methods sends them), 1 with the method "TRACE"`},
	{OpenAPI, `{"openapi": "3.0.0", "paths": {"/a": {"get": {"servers": [{"url": "ws://h/"}]}}}}`, "it has no request that can be sent: 1 with a ws: URL"},
	{OpenAPI, `{"openapi": "3.0.0", "paths": {"/a": {"get": {"parameters": [{"name": "A", "in": "header", "example": "a\nb"}]}}}}`, "it has no request that can be sent: 1 with a header whose value is not one line of text"},
	{Lines, `{"path": "/a b"}`, "it has no request that can be sent: 1 with a path that cannot be sent"},
}

func TestMalformedInputs(t *testing.T) {
	for _, c := range malformed {
		in, err := Read(c.format, []byte(c.text), testFiles)
		switch {
		case err == nil:
			t.Errorf("%v %q: read %+v", c.format, c.text, in)
		case err.Error() != c.want:
			t.Errorf("%v %q\n got %s\nwant %s", c.format, c.text, err, c.want)
		case strings.Contains(err.Error(), "\n"):
			t.Errorf("%q: more than a line", c.text)
		}
	}
}

// The time for an input is in proportion to its size: in proportion to its square, each of these
// would take minutes.
func TestLargeInputsAreReadInTime(t *testing.T) {
	const n = 150_000
	var headers, same, methods []string
	for i := range n {
		headers = append(headers, fmt.Sprintf(`{"name": "A%d", "value": "b"}`, i))
		same = append(same, `{"name": "A", "value": "b"}`)
		methods = append(methods, fmt.Sprintf(`{"request": {"method": "M%d", "url": "http://h/"}}`, i))
	}
	request := func(headers []string) string {
		return `{"request": {"method": "GET", "url": "http://h/", "headers": [` + strings.Join(headers, ",") + `]}}`
	}
	in, err := Read(HAR, []byte(`{"log": {"entries": [`+request(headers)+","+request(same)+","+strings.Join(methods, ",")+`]}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := []int{len(in.Requests), len(in.Requests[0].Headers), len(in.Requests[1].Headers["A"]), len(in.Skipped)}; !slices.Equal(got, []int{2, n, 3*n - 2, n}) {
		t.Errorf("%v", got)
	}

	var paths, schemes, security []string
	for i := range 5_000 {
		paths = append(paths, fmt.Sprintf(`"/%d": {"get": {}}`, i))
		schemes = append(schemes, fmt.Sprintf(`"s%d": {"type": "apiKey", "in": "header", "name": "X-%d"}`, i, i))
		security = append(security, fmt.Sprintf(`{"s%d": []}`, i))
	}
	schemes = append(schemes, `"wrong": {"$ref": "#/nowhere"}`) // which nothing uses
	in, err = Read(OpenAPI, []byte(`{"openapi": "3.0.0", "components": {"securitySchemes": {`+strings.Join(schemes, ",")+`}}, "security": [`+strings.Join(security, ",")+`], "paths": {`+strings.Join(paths, ",")+`}}`), nil)
	if err != nil || len(in.Requests) != 5_000 || len(in.Keys) != 5_000 {
		t.Errorf("%v: %+v", err, in)
	}
}
