package try

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/front/reach"

	"github.com/millicore/millicore/internal/data/experiment/file"
)

func TestWhatRunsIsNamedByAProcessAContainerOrAURL(t *testing.T) {
	for _, c := range []struct {
		word string
		args []string
		want Running
		err  string
	}{
		{"4242", nil, Running{PID: 4242}, ""},
		{"api", nil, Running{Container: "api"}, ""},
		{"nginx.service", nil, Running{Container: "nginx.service"}, ""},
		{"http://127.0.0.1:8080/", nil, Running{URL: "http://127.0.0.1:8080/"}, ""},
		{"localhost:8080", nil, Running{URL: "localhost:8080"}, ""},
		{"[::1]:8080", nil, Running{URL: "[::1]:8080"}, ""},
		{"::1:8080", nil, Running{URL: "::1:8080"}, ""}, // an error of its own names the brackets
		{"example.com/x", nil, Running{URL: "example.com/x"}, ""},
		{"api", []string{"http://172.17.0.2:80/"}, Running{Container: "api", URL: "http://172.17.0.2:80/"}, ""},
		{"4242", []string{"127.0.0.1:80"}, Running{PID: 4242, URL: "127.0.0.1:80"}, ""},
		{"", nil, Running{}, "want a process ID"},
		{"0", nil, Running{}, "above 0"},
		{"4242", []string{"./server", "--port"}, Running{}, "starts no command"},
		{"localhost:80", []string{"localhost:81"}, Running{}, "leave out localhost:81"},
	} {
		t.Run(c.word, func(t *testing.T) {
			got, err := ParseRunning(c.word, c.args)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, want an error with %q", err, c.err)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

func TestTheURLSetsThePathAndTheHost(t *testing.T) {
	for _, c := range []struct {
		name    string
		url     string
		set     bool // --get
		headers map[string]string
		path    string
		host    string
		wrong   bool
	}{
		{"both", "http://api.test:8080/items?a=b", false, nil, "/items?a=b", "api.test:8080", false},
		{"a path of --get", "http://api.test/", true, nil, "/asked", "api.test", false},
		{"two paths", "http://api.test/items", true, nil, "", "", true},
		{"a host of --header", "http://127.0.0.1:80/", false, map[string]string{"host": "shop.test"}, "/asked", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			target, err := reach.ParseTarget(c.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			a := testAsk("x")
			a.Request.Path, a.Request.Headers = "/asked", c.headers
			err = a.attachTo(target, c.set)
			if (err != nil) != c.wrong {
				t.Fatalf("%v, want an error: %v", err, c.wrong)
			}
			if err == nil && (a.Request.Path != c.path || a.Request.Headers["Host"] != c.host) {
				t.Errorf("%s of %q, want %s of %q", a.Request.Path, a.Request.Headers["Host"], c.path, c.host)
			}
		})
	}
}

// A service without a process that could be seen: no limit is claimed.
func TestAServiceOfAnotherHost(t *testing.T) {
	target, err := reach.ParseTarget("https://api.test/items", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := testAsk("https://api.test/items")
	a.First = 20
	at := &Attached{Target: target, Unseen: "The service runs on another host."}
	e, err := file.Build(a.Name(), at.Settings(a), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &e.Cells[0]
	if len(e.Cells) != 1 || !c.Load.Find || c.Load.Target().Value != 20 || c.Load.Protocol != "https" || c.Limits.CPUMillis != 0 || c.Service.Command[0] != target.URL {
		t.Errorf("%+v, want one search over TLS that begins at 20/s, without a limit", c)
	}
	v := at.Variants()
	if len(v) != 1 || !strings.Contains(v[0].Limits, "not known") || !strings.Contains(v[0].Advice, "its throttling are not known") {
		t.Errorf("%+v", v)
	}
	if text := at.Announce(a); !strings.Contains(text, "Throttling is unknown") || !strings.Contains(text, "changes nothing") {
		t.Errorf("%s", text)
	}
}
