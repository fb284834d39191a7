package try

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// Detected is what was detected of a server: "Detected nginx 1.22.1 (by executable name);
// parallelism 2 (read)". An application server is known by the command.
func Detected(a *Ask, info runtimes.Info) string {
	if info.Runtime == runtimes.Unknown || info.Runtime == "" {
		if unread := cmp.Or(info.Refused, strings.Join(info.Notes, "; ")); unread != "" {
			return fmt.Sprintf("The runtime of %s is not known, because it could not be inspected: %s", a.program(), unread)
		}
		return fmt.Sprintf("Detected no known runtime of %s", a.program())
	}
	text, by := "Detected "+onServer(info), info.By
	if info.Server != "" && by != "" {
		by = "its command and " + by
	}
	if by != "" {
		text += " (by " + by + ")"
	}
	if p := info.Parallelism; p.Value > 0 {
		text += fmt.Sprintf("; parallelism %d (%s)", p.Value, p.Source)
	}
	return text
}

// detect detects the runtime of a service. It serves, and can be measured whatever it is.
// On a busy host the time in which a process must be read can be over: a service that
// Millicore itself started gets a second one.
func detect(tree func() (runtimes.Info, error)) runtimes.Info {
	info, err := tree()
	if err == nil && info.Refused != "" {
		info, err = tree()
	}
	if err != nil {
		return runtimes.Info{Runtime: runtimes.Unknown, Notes: []string{err.Error()}}
	}
	return info
}

// serverVersion adds the version that a server states in its answers to what is known of
// its process: "nginx/1.22.1".
func serverVersion(info *runtimes.Info, header string) {
	name, version, ok := strings.Cut(header, "/")
	if !ok || info.Version != "" || !strings.EqualFold(name, info.Runtime.Title()) {
		return
	}
	if version, _, _ = strings.Cut(version, " "); version != "" {
		info.Version, info.VersionFrom = version, runtimes.Read
	}
}

// refused is the error of a request that was answered with another status than 200 to 299.
type refused struct {
	request *experiment.Request
	code    int
	text    string // begin of the body
	ready   bool   // --ready was set
	mix     bool   // it is one of several
}

func (r *refused) Error() string {
	text := fmt.Sprintf("%s %s answered %d %s (%.80q)", r.request.Method, secret.Text(r.request.Path), r.code, http.StatusText(r.code), secret.Text(r.text))
	switch {
	case r.code == http.StatusServiceUnavailable && !r.ready:
		path := "PATH"
		if r.request.Method == http.MethodGet {
			path = r.request.Path
		}
		return text + fmt.Sprintf("; a server that answers 503 is often still warming up: name a path that answers 200 once it is ready, as in --ready %s", path)
	case r.mix:
		return text + "; leave this request out of the input, or have its status accepted: \"check\": {\"status\": [200, " + strconv.Itoa(r.code) + "]} in a line of --mix"
	case r.code == http.StatusMethodNotAllowed && r.request.Method == http.MethodGet:
		return text + "; send another method with --post PATH"
	}
	if r.request.Method == http.MethodPost {
		return text + "; check the path of --post and the body of --body: try needs answers of 200 to 299"
	}
	return text + "; set a path that answers 200 to 299 with --get PATH"
}
