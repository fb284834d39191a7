package inputs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const recorded = `{"log": {"entries": [
 {"request": {"method": "GET", "url": "https://shop.example/?a=1", "headers": [{"name": "Cookie", "value": "s=1"}, {"name": "authorization", "value": "Bearer x"}]}},
 {"request": {"method": "GET", "url": "https://shop.example/?a=1", "headers": [{"name": "Cookie", "value": "s=1"}, {"name": "authorization", "value": "Bearer x"}]}},
 {"request": {"method": "POST", "url": "https://shop.example/o", "headers": [], "postData": {"text": "x"}}},
 {"request": {"method": "GET", "url": "https://1.example/", "headers": []}},
 {"request": {"method": "GET", "url": "https://2.example/", "headers": []}},
 {"request": {"method": "GET", "url": "https://2.example/", "headers": []}},
 {"request": {"method": "GET", "url": "https://3.example/", "headers": []}},
 {"request": {"method": "GET", "url": "https://4.example/", "headers": []}},
 {"request": {"method": "GET", "url": "https://5.example/", "headers": []}},
 {"request": {"method": "GET", "url": "https://6.example/", "headers": []}},
 {"request": {"method": "GET", "url": "https://7.example/", "headers": []}},
 {"request": {"method": "GET", "url": "data:,x", "headers": []}}
]}}`

func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhatIsSentIsNamed(t *testing.T) {
	file := written(t, "shop.har", recorded)
	in, err := (&Flags{HAR: file}).Read()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"--har " + file + ": 12 requests read, 3 used as 2 different ones, those to shop.example; 1 may change data.",
		"Not sent: skipped: 1 with a data: URL; dropped: 2 to 2.example, 1 to 1.example, 1 to 3.example, 1 to 4.example, 1 to 5.example, and 2 to 2 other hosts.",
	}
	if got := in.Words(""); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := in.Words("2.example:443")[0]; !strings.HasSuffix(got, ": 12 requests read, 2 used, those to 2.example.") {
		t.Error(got)
	}
	if got := in.URL(); got != "https://shop.example/" {
		t.Error(got)
	}
	var b strings.Builder
	if (*Input)(nil).Report(&b, ""); b.Len() > 0 {
		t.Error("there are words about nothing")
	}
	if in.Report(&b, ""); !strings.Contains(b.String(), "Not sent: skipped: 1 with a data: URL;") {
		t.Error(b.String())
	}
	if new(Flags).URLs(0) != 1 || (&Flags{Curl: []string{"x"}}).URLs(0) != 0 || (&Flags{Curl: []string{"x"}}).URLs(1) != 1 {
		t.Error("a command of curl has a URL, and others need one")
	}
}

func TestTheMixHasTheHeadersOfTheFlags(t *testing.T) {
	in, err := (&Flags{HAR: written(t, "a.har", recorded)}).Read()
	if err != nil {
		t.Fatal(err)
	}
	mix := in.mix("", map[string]string{"Host": "h", "cookie": "t=2"}, map[string]any{"auth": map[string]any{"bearer_env": "T"}})
	headers := mix[0]["headers"].(map[string]string)
	if len(mix) != 2 || len(headers) != 2 || headers["cookie"] != "t=2" || headers["Host"] != "h" || mix[0]["weight"] != 2 || mix[0]["auth"] == nil || mix[1]["body"] != "x" || mix[1]["weight"] != nil {
		t.Errorf("%v", mix)
	}
	if again := in.mix("", nil, nil); again[0]["headers"].(map[string]string)["Cookie"] != "s=1" {
		t.Errorf("the input has changed: %v", again)
	}
}

func TestSourcesOfRequests(t *testing.T) {
	body := "POST /x\n@body.json\n"
	for _, c := range []struct {
		flags Flags
		path  string
	}{
		{Flags{Curl: []string{"curl http://h/a", "@" + written(t, "c", "curl http://h/b")}}, "/a /b"},
		{Flags{Targets: written(t, "t", body)}, "/x"},
		{Flags{Mix: written(t, "m", `{"path": "/m"}`)}, "/m"},
	} {
		in, err := c.flags.Read()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range in.Requests {
			got = append(got, r.Path)
			if r.File != "" && !filepath.IsAbs(r.File) {
				t.Errorf("%s depends on the working folder", r.File)
			}
		}
		if strings.Join(got, " ") != c.path {
			t.Errorf("%+v: %q", c.flags, got)
		}
	}
	if in, err := new(Flags).Read(); in != nil || err != nil {
		t.Errorf("%v, %v", in, err)
	}
}

// Values that are given are sent as they are, and those of which no operation has the name are errors.
func TestParams(t *testing.T) {
	file := written(t, "shop.yaml", described)
	in, err := (&Flags{OpenAPI: file, Params: []string{"id=a/b c=", "k=geheim", "n=7"}}).Read()
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, r := range in.For("").Requests {
		paths = append(paths, r.Path)
	}
	if want := []string{"/v1/a", "/v1/b/a%2Fb%20c=?k=geheim", "/v1/c?n=7"}; !slices.Equal(paths, want) {
		t.Errorf("%q", paths)
	}
	if got := in.Words("")[2:]; !slices.Equal(got, []string{"Credentials, which the file cannot have: --header 'Authorization: Bearer TOKEN' for 1 operation."}) {
		t.Errorf("%q", got)
	}
	for param, want := range map[string]string{
		"ids=3": `no operation that is sent has the parameter "ids"`,
		"id":    "--param id: want NAME=VALUE, with each name once",
		"=3":    "--param =3: want NAME=VALUE, with each name once",
		"n=1":   "--param n=1: want NAME=VALUE, with each name once",
	} {
		if _, err := (&Flags{OpenAPI: file, Params: []string{param, "n=1"}}).Read(); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", param, err)
		}
	}
}

const described = `
openapi: 3.0.0
servers: [{url: https://shop.example/v1}]
security: [{token: []}]
components: {securitySchemes: {token: {type: http, scheme: bearer}, key: {type: apiKey, in: query, name: k}}}
paths:
  /a: {get: {}, post: {}}
  /b/{id}: {get: {security: [{key: []}], parameters: [{name: id, in: path, required: true, schema: {type: integer}}]}, delete: {}}
  /c: {get: {security: [], parameters: [{name: n, in: query, required: true, schema: {type: integer}, example: 4}]}}
  /d: {get: {servers: [{url: https://files.example}]}}
`

func TestWhatIsSentOfADescription(t *testing.T) {
	file := written(t, "shop.yaml", described)
	for all, want := range map[bool][]string{
		false: {
			"--openapi " + file + ": 6 operations read, 3 used, each equally often, those to shop.example.",
			"Not sent: skipped: 2 that may change data (--all-methods sends them); dropped: 1 to files.example.",
			"Made up from types, because the file has no example: values of 1 operation, which the service may refuse: id in 1. --param NAME=VALUE sets a parameter.",
			"Credentials, which the file cannot have: --header 'Authorization: Bearer TOKEN' for 1 operation, the query parameter k (--param sets it) for 1 operation.",
		},
		true: {
			"--openapi " + file + ": 6 operations read, 4 used, each equally often, those to shop.example; 1 may change data.",
			"Not sent: skipped: 1 with a part of the path that is not described; dropped: 1 to files.example.",
			"Made up from types, because the file has no example: values of 1 operation, which the service may refuse: id in 1. --param NAME=VALUE sets a parameter.",
			"Credentials, which the file cannot have: --header 'Authorization: Bearer TOKEN' for 2 operations, the query parameter k (--param sets it) for 1 operation.",
		},
	} {
		in, err := (&Flags{OpenAPI: file, AllMethods: all}).Read()
		if err != nil {
			t.Fatal(err)
		}
		if got := in.Words("127.0.0.1:80"); !slices.Equal(got, want) {
			t.Errorf("%t: %q", all, got)
		}
		if all {
			continue
		}
		if got := in.Words("", "authorization: Bearer x")[3]; got != "Credentials, which the file cannot have: the query parameter k (--param sets it) for 1 operation." {
			t.Error(got)
		}
		mix := in.mix("127.0.0.1:80", map[string]string{"Authorization": "Bearer x"}, nil)
		if len(mix) != 3 || mix[0]["path"] != "/v1/a" || mix[1]["path"] != "/v1/b/1" || mix[1]["name"] != "GET /b/{id}" || mix[2]["path"] != "/v1/c?n=4" || mix[2]["weight"] != nil {
			t.Errorf("%v", mix)
		}
	}
}

func TestErrorsNameTheFlagOfTheInput(t *testing.T) {
	script := written(t, "s.js", "x")
	if err := os.WriteFile(filepath.Join(filepath.Dir(script), "targets"), []byte("GET http://h/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags Flags
		want  string
	}{
		{Flags{HAR: "/no/such"}, "--har /no/such: open /no/such: no such file or directory"},
		{Flags{HAR: script}, "--har " + script + ": " + script + " is a script of another tool, and scripts are not run; docs/coming-from-k6.md has what a k6 script is here"},
		{Flags{HAR: script[:len(script)-len("s.js")] + "targets"}, "--har " + script[:len(script)-len("s.js")] + "targets: this looks like vegeta targets; use --targets"},
		{Flags{Mix: written(t, "m", described)}, "this looks like OpenAPI; use --openapi"},
		{Flags{OpenAPI: "/no/such"}, "--openapi /no/such: open /no/such: no such file or directory"},
		{Flags{Curl: []string{"@"}}, "--curl: want the name of a file"},
		{Flags{Curl: []string{"curl -F a=@/no/such h"}}, "--curl: line 1, column 6: -F: open /no/such: no such file or directory"},
	} {
		if _, err := c.flags.Read(); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%+v\n got %v\nwant %s", c.flags, err, c.want)
		}
	}
}

func TestFlagsThatExcludeEachOther(t *testing.T) {
	for line, want := range map[string]string{
		"har targets": "--har has the requests: leave out --targets",
		"mix body":    "--mix has the requests: leave out --body",
		"body get":    "",
		"curl":        "",

		"openapi all-methods": "",
		"openapi param":       "",
		"har param":           "--param needs --openapi: other inputs have their values",
		"har all-methods":     "--all-methods needs --openapi: other inputs were recorded or written, and all of their methods are sent",
	} {
		err := new(Flags).Contradiction(func(name string) bool { return slices.Contains(strings.Fields(line), name) }, "get", "body")
		if err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%s: %v", line, err)
		}
	}
}
