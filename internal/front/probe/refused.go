package probe

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/experiment"
)

// Refused is the error of a request that was answered with another status than 200 to 299.
type Refused struct {
	request *experiment.Request
	Code    int
	text    string // begin of the body
	Ready   bool   // --ready was set
	mix     bool   // it is one of several
}

func (r *Refused) Error() string {
	text := fmt.Sprintf("%s %s answered %d %s (%.80q)", r.request.Method, secret.Text(r.request.Path), r.Code, http.StatusText(r.Code), secret.Text(r.text))
	switch {
	case r.Code == http.StatusServiceUnavailable && !r.Ready:
		path := "PATH"
		if r.request.Method == http.MethodGet {
			path = r.request.Path
		}
		return text + fmt.Sprintf("; a server that answers 503 is often still warming up: name a path that answers 200 once it is ready, as in --ready %s", path)
	case r.mix:
		return text + "; leave this request out of the input, or have its status accepted: \"check\": {\"status\": [200, " + strconv.Itoa(r.Code) + "]} in its line of --mix or --session"
	case r.Code == http.StatusMethodNotAllowed && r.request.Method == http.MethodGet:
		return text + "; send another method with --post PATH"
	}
	if r.request.Method == http.MethodPost {
		return text + "; check the path of --post and the body of --body: try needs answers of 200 to 299"
	}
	return text + "; set a path that answers 200 to 299 with --get PATH"
}
