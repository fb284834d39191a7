package try

import (
	"cmp"
	"fmt"
	"strings"

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
