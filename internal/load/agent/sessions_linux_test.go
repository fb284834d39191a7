package agent

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/millicore/millicore/internal/load/protocol"
)

// shop is a service of sessions: a login gives a token and a cookie, both of which the cart and
// the order need. Each fifth login gives no token.
type shop struct {
	mu     sync.Mutex
	users  map[string]bool // who have logged in
	at     map[string]int  // how far the session of a token is: 1 after its cart
	orders int
	wrong  []string
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	complain := func(format string, args ...any) {
		s.wrong = append(s.wrong, r.Method+" "+r.URL.String()+": "+fmt.Sprintf(format, args...))
		w.WriteHeader(http.StatusUnauthorized)
	}
	if r.URL.Path == "/login" {
		var body struct{ User string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || s.users[body.User] || r.Header.Get("Cookie") != "" {
			complain("user %q, cookies %q, %v", body.User, r.Header.Get("Cookie"), err)
			return
		}
		s.users[body.User] = true
		token := "t " + body.User
		if len(s.users)%5 == 0 {
			fmt.Fprint(w, `{}`)
			return
		}
		s.at[token] = 0
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: body.User, Path: "/"})
		w.Header().Set("Location", "/cart/"+body.User+"?a=b")
		fmt.Fprintf(w, `{"auth": {"token": %q}}`, token)
		return
	}
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	at, in := s.at[token]
	user := strings.TrimPrefix(token, "t ")
	switch sid, err := r.Cookie("sid"); {
	case !in, err != nil || sid.Value != user:
		complain("token %q, cookie %v", token, sid)
	case at == 0 && r.URL.String() == "/cart/"+user+"?a=b", at == 1 && r.URL.String() == "/order?by="+strings.ReplaceAll(token, " ", "%20"):
		if s.at[token]++; at == 1 {
			delete(s.at, token)
			s.orders++
		}
	default:
		complain("token %q is at %d", token, at)
	}
}

// steps are the requests of a shop's session.
func steps() []protocol.Request {
	names := []string{"session", "session_id", "next", "token"}
	auth := map[string]string{"Authorization": "Bearer {{token}}"}
	return []protocol.Request{
		{Method: "POST", Path: "/login", Body: `{"user": "u{{session}}"}`,
			Step: &protocol.Step{Names: names[:2], Capture: map[string]string{"token": "json:$.auth.token", "next": "header:Location"}}},
		{Path: "{{next}}", Headers: auth, Step: &protocol.Step{Names: names, Think: seconds(0.002)}},
		{Method: "POST", Path: "/order?by={{token}}", Headers: auth, Step: &protocol.Step{Names: names}},
	}
}

// Each user sends the requests of its session in their order, with what the service gave it. In
// an open loop sessions are as many as the rate needs.
func TestSessions(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*protocol.Prepare){
		"users": func(p *protocol.Prepare) { p.Load.Requests = 1300 },
		"a rate": func(p *protocol.Prepare) {
			p.Load = protocol.Load{Kind: protocol.Open, Stages: []protocol.Stage{{Duration: seconds(1), From: 1000, To: 1000}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &shop{users: map[string]bool{}, at: map[string]int{}}
			server := httptest.NewServer(s)
			defer server.Close()
			p := byNumber(strings.TrimPrefix(server.URL, "http://"), 0, 13)
			p.Requests, p.Threads = steps(), 2
			change(&p)
			all := sum(trial(t, serve(t), p))
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, text := range s.wrong[:min(5, len(s.wrong))] {
				t.Error(text)
			}
			got := all.Sessions
			if got == nil || got.Whole != int64(s.orders) || got.Whole < 200 {
				t.Fatalf("%d orders, and sessions %+v of %d requests", s.orders, got, all.Ended())
			}
			untold := int64(len(s.users) / 5)
			if got.Broken != untold || got.Missing["token"] != untold || got.Missing["next"] != untold || all.Failed != untold {
				t.Errorf("%d logins without a token: sessions %+v, %d failed", untold, got, all.Failed)
			}
			if got.Begun != int64(len(s.users)) {
				t.Errorf("%d begun of %d", got.Begun, len(s.users))
			}
			if all.Good != all.Ended()-untold {
				t.Errorf("%d good of %d", all.Good, all.Ended())
			}
		})
	}
}

func TestInvalidSessions(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*protocol.Prepare){
		"{{token}} is not a placeholder": func(p *protocol.Prepare) { p.Requests[0].Path = "/{{token}}" },
		`capture: token: "x": want json`: func(p *protocol.Prepare) { p.Requests[0].Step.Capture["token"] = "x" },
		"HTTP/1.1":                       func(p *protocol.Prepare) { p.Transport.HTTP2 = true },
	} {
		p := byNumber("127.0.0.1:1", 1, 1)
		p.Requests = steps()
		change(&p)
		if _, err := serve(t).Prepare(t.Context(), p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want in it: %s", err, want)
		}
	}
}

// A client that is no agent walks through sessions with their values and cookies.
func TestWalk(t *testing.T) {
	s := &shop{users: map[string]bool{}, at: map[string]int{}}
	server := httptest.NewServer(s)
	defer server.Close()
	w, err := NewWalk(strings.TrimPrefix(server.URL, "http://"), steps())
	if err != nil {
		t.Fatal(err)
	}
	untold := 0
	for range 28 { // eight whole sessions, two without a token, and one under way
		_, req, done, err := w.Next()
		if err != nil {
			t.Fatal(err)
		}
		answer := httptest.NewRecorder()
		s.ServeHTTP(answer, req)
		var whole strings.Builder
		whole.WriteString("HTTP/1.1 200 OK\r\n")
		_ = answer.Header().Write(&whole) // a Builder takes all
		if missing := done([]byte(whole.String()+"\r\n"+answer.Body.String()), answer.Code == http.StatusOK); len(missing) > 0 {
			untold++
		}
	}
	if len(s.wrong) > 0 || s.orders != 8 || untold != 2 || len(s.users) != 11 {
		t.Errorf("%d orders of %d users, %d without a token, wrong: %q", s.orders, len(s.users), untold, s.wrong)
	}
}
