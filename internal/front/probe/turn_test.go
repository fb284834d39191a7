package probe

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/millicore/millicore/internal/data/experiment"
)

func TestTurnsFollowTheWeights(t *testing.T) {
	l := &experiment.Load{Mix: []experiment.Request{{Path: "/a", Weight: 3}, {Path: `/{{"{{"}}b`, Headers: map[string]string{"A": `{{"{{"}}`}}, {Path: "/c", Weight: 6}}}
	l.Request = l.Mix[0]
	seen := map[string]int{}
	for n := range 1000 {
		r := turn(l, n).Request
		seen[r.Path]++
		if r.Path == "/{{b" && r.Headers["A"] != "{{" {
			t.Fatalf("%+v", r)
		}
	}
	for path, want := range map[string]int{"/a": 300, "/{{b": 100, "/c": 600} {
		if got := seen[path]; got < want-5 || got > want+5 {
			t.Errorf("%s: %d of 1000 turns, want %d", path, got, want)
		}
	}
	if first := turn(l, 0).Request.Path; first != "/a" {
		t.Error(first)
	}
	if single := (&experiment.Load{}); turn(single, 5) != single {
		t.Error("a load without a mix is another one")
	}
}

// The probe sends whole sessions: a service that needs their cookie or a value is no refusal.
func TestProbesOfSessions(t *testing.T) {
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sid, _ := r.Cookie("sid")
		switch {
		case r.URL.Path == "/login":
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "1"})
			w.Header().Set("Location", "http://"+r.Host+"/home?a=b")
			w.WriteHeader(http.StatusFound)
		case sid == nil || r.URL.RawQuery != "a=b":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			fmt.Fprint(w, "welcome")
		}
	})
	server := httptest.NewServer(service)
	defer server.Close()
	steps := func() []experiment.Request {
		return []experiment.Request{
			{Method: "POST", Path: "/login", Check: &experiment.Check{Status: []int{302}}, Capture: map[string]string{"next": "header:Location"}},
			{Method: "GET", Path: "{{next}}", Check: &experiment.Check{Contains: "welcome"}},
			{Method: "GET", Path: "/home?a=b"},
		}
	}
	for want, change := range map[string]func([]experiment.Request){
		"": func([]experiment.Request) {},
		`20 of 20 answers of the probe were not as checked: POST /login: the answer, with status 302, has no value for {{token}}: check its capture`: func(all []experiment.Request) {
			all[0].Capture["token"] = "json:$.token"
		},
		`10 of 20 answers of the probe were not as checked: GET {{next}}: the answer, with status 200, does not contain "hello"`: func(all []experiment.Request) { all[1].Check.Contains = "hello" },
	} {
		l := &experiment.Load{Session: true, Mix: steps()}
		change(l.Mix)
		l.Request = l.Mix[0]
		a, err := Ask(t.Context(), server.Listener.Addr().String(), l)
		if err != nil {
			t.Fatal(err)
		}
		got := a.Words()
		if _, first := a.most(); first != nil {
			got += ": " + first.Error()
		}
		if got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}
