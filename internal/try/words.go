package try

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/narrative"
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

// Announce lists, before the searches begin, what was found and what will be tried.
func Announce(a *Ask, info runtimes.Info, variants []Variant) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", Detected(a, info))
	for _, v := range variants {
		reason := v.Reason
		if v.NoEffect != "" {
			reason = "has no effect and is skipped: " + v.NoEffect
		}
		fmt.Fprintf(&b, "  %-24s %s\n", v.Label, reason)
	}
	return b.String()
}

// Verdict is the answer in one paragraph; level may be nil.
func Verdict(name string, variants []Variant, found, level *analysis.Summary) string {
	all := make([]narrative.Variant, len(variants))
	for i, v := range variants {
		all[i] = narrative.Variant{Service: v.Service, Label: v.Label, Unlimited: v.Unlimited, Replicas: v.Replicas, NoEffect: v.NoEffect, Advice: v.Advice}
		if v.Limits != noLimitWords {
			all[i].Limits = strings.TrimSuffix(v.Limits, " each")
		}
	}
	return narrative.Tried(name, all, found, level)
}
