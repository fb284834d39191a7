package probe

import (
	"testing"

	"github.com/millicore/millicore/internal/data/experiment"
)

func TestAnAnswerThatIsNotGoodSaysWhatToSet(t *testing.T) {
	get, post := &experiment.Request{Method: "GET", Path: "/api"}, &experiment.Request{Method: "POST", Path: "/api"}
	for _, c := range []struct {
		name string
		err  Refused
		want string
	}{
		{"not found", Refused{get, 404, "no", false, false}, `GET /api answered 404 Not Found ("no"); set a path that answers 200 to 299 with --get PATH`},
		{"warming up", Refused{get, 503, "warming up", false, false}, `GET /api answered 503 Service Unavailable ("warming up"); a server that answers 503 is often still warming up: name a path that answers 200 once it is ready, as in --ready /api`},
		{"warming up, with a body to send", Refused{post, 503, "", false, false}, `POST /api answered 503 Service Unavailable (""); a server that answers 503 is often still warming up: name a path that answers 200 once it is ready, as in --ready PATH`},
		{"503 though it was ready", Refused{get, 503, "", true, false}, `GET /api answered 503 Service Unavailable (""); set a path that answers 200 to 299 with --get PATH`},
		{"a wrong body", Refused{post, 400, "", false, false}, `POST /api answered 400 Bad Request (""); check the path of --post and the body of --body: try needs answers of 200 to 299`},
		{"one of several", Refused{get, 404, "", false, true}, `GET /api answered 404 Not Found (""); leave this request out of the input, or have its status accepted: "check": {"status": [200, 404]} in its line of --mix or --session`},
		{"another method", Refused{get, 405, "", false, false}, `GET /api answered 405 Method Not Allowed (""); send another method with --post PATH`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.err.Error(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
