package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroup is a group of flags under a title in --help.
type flagGroup struct {
	title string
	names []string // in the order of the help
	flags []*pflag.Flag
}

// everywhere are the flags that every command has.
const everywhere = "Flags of every command"

// groupedFlags are the groups of commands with many flags. A flag that is in no group
// stands under "Other flags".
var groupedFlags = map[string][]flagGroup{
	"try": {
		{title: "Limits and settings", names: []string{"cpu", "memory", "pids", "env", "user", "as-is", "profile", "against", "neighbour", "image", "volume", "network", "compose", "service", "attach"}},
		{title: "Requests", names: []string{"get", "post", "curl", "har", "targets", "mix", "session", "openapi", "all-methods", "param", "grpc", "proto", "import-path", "gzip", "max-message", "health", "body", "header", "timeout", "port", "cacert", "ready", "ready-timeout"}},
		{title: "Objective and search", names: []string{"p99", "availability", "users", "start-rate", "traffic", "repeats", "seed"}},
		{title: "Output", names: []string{"details", "out", "save", "json", "yes"}},
	},
	"load": {
		{title: "Load", names: []string{"users", "rate", "duration", "requests", "stages", "open", "replay", "speed", "even", "think", "waiting", "warmup", "seed"}},
		{title: "Requests", names: []string{"method", "header", "body", "body-file", "curl", "har", "targets", "mix", "session", "openapi", "all-methods", "param", "basic-env", "bearer-env", "status", "contains", "timeout", "follow"}},
		{title: "gRPC", names: []string{"grpc", "proto", "import-path", "gzip", "max-message", "health"}},
		{title: "Connections", names: []string{"connections", "no-keepalive", "keepalive", "threads", "http2", "streams", "insecure", "cacert", "cert", "key", "session-tickets", "connect-to", "source", "unix-socket"}},
		{title: "Observe the service", names: []string{"pid", "container"}},
		{title: "Output", names: []string{"details", "threshold", "out", "json", "csv", "hlog", "junit", "yes"}},
	},
	"run": {
		{title: "Run", names: []string{"on", "set", "seed", "dry-run"}},
		{title: "Output", names: []string{"details", "out", "json", "junit"}},
		{title: "With --on kubernetes", names: []string{"attach", "detach", "node-agent", "image", "namespace", "context", "kubeconfig"}},
	},
	"doctor": {
		{title: "Processes", names: []string{"pid", "container", "for", "level"}},
		{title: "Output", names: []string{"details", "json", "patch", "baseline", "suppress"}},
		{title: "In a cluster", names: []string{"on", "manifest", "image", "namespace", "context", "kubeconfig"}},
	},
	"clean": {
		{title: "Flags", names: []string{"on"}},
		{title: "With --on kubernetes", names: []string{"run", "namespace", "context", "kubeconfig"}},
	},
}

// groupsOf are the visible flags of a command by group.
func groupsOf(c *cobra.Command) []flagGroup {
	known := groupedFlags[c.Name()]
	rest := "Flags"
	if len(known) > 0 {
		rest = "Other flags"
	}
	groups := append(slices.Clone(known), flagGroup{title: rest}, flagGroup{title: everywhere})
	add := func(f *pflag.Flag, at int) {
		if i := slices.IndexFunc(known, func(g flagGroup) bool { return slices.Contains(g.names, f.Name) }); i >= 0 {
			at = i
		}
		if !f.Hidden {
			groups[at].flags = append(groups[at].flags, f)
		}
	}
	own, shared := len(groups)-2, len(groups)-1
	c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || c.PersistentFlags().Lookup(f.Name) != nil {
			add(f, shared)
			return
		}
		add(f, own)
	})
	c.InheritedFlags().VisitAll(func(f *pflag.Flag) { add(f, shared) })
	for i := range groups {
		names := groups[i].names
		slices.SortStableFunc(groups[i].flags, func(a, b *pflag.Flag) int {
			return slices.Index(names, a.Name) - slices.Index(names, b.Name)
		})
	}
	return slices.DeleteFunc(groups, func(g flagGroup) bool { return len(g.flags) == 0 })
}
