package try

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/millicore/millicore/internal/host/runtimes"
)

// Describe names the server: "my-server (Go 1.26.8)".
func Describe(a *Ask, info runtimes.Info) string {
	name := filepath.Base(a.Command[0])
	if info.Runtime == runtimes.Unknown || info.Runtime == "" {
		return name
	}
	if text := info.String(); !strings.EqualFold(strings.Fields(text)[0], name) {
		return fmt.Sprintf("%s (%s)", name, text)
	}
	return info.String()
}

// Announce says, before the searches begin, what was found and what will be
// tried.
func Announce(a *Ask, info runtimes.Info, variants []Variant) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", Describe(a, info))
	if info.By != "" {
		fmt.Fprintf(&b, ", detected by %s", info.By)
	}
	if p := info.Parallelism; p.Value > 0 {
		fmt.Fprintf(&b, "; parallelism %d (%s)", p.Value, p.Source)
	}
	b.WriteString("\n")
	for _, v := range variants {
		reason := v.Reason
		if v.NoEffect != "" {
			reason = "has no effect, and is left out: " + v.NoEffect
		}
		fmt.Fprintf(&b, "  %-24s %s\n", v.Label, reason)
	}
	return b.String()
}
