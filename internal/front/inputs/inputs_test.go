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
		{Flags{Curl: []string{"@"}}, "--curl: want the name of a file"},
		{Flags{Curl: []string{"curl -F a=@/no/such h"}}, "--curl: line 1, column 6: -F: open /no/such: no such file or directory"},
	} {
		if _, err := c.flags.Read(); err == nil || err.Error() != c.want {
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
	} {
		err := new(Flags).Contradiction(func(name string) bool { return slices.Contains(strings.Fields(line), name) }, "get", "body")
		if err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%s: %v", line, err)
		}
	}
}
