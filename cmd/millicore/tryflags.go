package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/front/try"
)

// tryMore are the flags of `millicore try` about how the server is started, how often it is
// searched, and where it runs already.
type tryMore struct {
	env     []string
	repeats int
	start   float64
	user    string
	pids    int
	attach  string
	against string
	cacert  string
	yes     bool
}

func (m *tryMore) define(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&m.env, "env", nil, "environment variable of the server, as in PORT=8080 (repeatable)")
	flags.IntVar(&m.repeats, "repeats", 1, "number of searches of each setting; six are enough to rank the settings, and the default of --against")
	flags.Float64Var(&m.start, "start-rate", 0, "requests per second with which a search begins (default: from a short probe)")
	flags.StringVar(&m.user, "user", "", "user that the server runs as: a name, UID[:GID] or caller (default: who called sudo, else the caller)")
	flags.IntVar(&m.pids, "pids", experiment.DefaultPIDs, "limit of processes and threads of the server together")
	flags.StringVar(&m.against, "against", "", "command of the server before a change: what changed is the answer, as in --against './old --fast'")
	flags.StringVar(&m.attach, "attach", "", "search a service that runs already: a process ID, a container, or a URL; a URL may follow a process or a container")
	flags.StringVar(&m.cacert, "cacert", "", "with --attach https://…: trust only the authorities whose certificates are in this PEM file")
	flags.BoolVar(&m.yes, "yes", false, "with --attach: skip the confirmation prompt for other hosts")
}

// startOnly are the flags that have no effect on a service that runs already.
var startOnly = []string{"cpu", "memory", "env", "ready", "ready-timeout", "as-is", "user", "pids", "profile", "save", "against"}

// check reports flags that are wrong, or exclude each other. changed reports whether a flag
// was set.
func (m *tryMore) check(changed func(string) bool) error {
	switch {
	case m.repeats < 1:
		return fmt.Errorf("--repeats %d: want 1 or more", m.repeats)
	case m.pids < 1:
		return fmt.Errorf("--pids %d: want 1 or more", m.pids)
	case changed("start-rate") && !(m.start > 0): // NaN is not
		return fmt.Errorf("--start-rate %v: want requests per second above 0", m.start)
	case changed("start-rate") && changed("users"):
		return errors.New("--start-rate is a rate; a search for --users begins with one user")
	case m.attach == "" && changed("cacert"):
		return errors.New("--cacert needs --attach: a server that try starts is loaded without TLS")
	case m.attach == "" && changed("yes"):
		return errors.New("--yes needs --attach: a server that try starts is not asked about")
	}
	for _, flag := range startOnly {
		if m.attach != "" && changed(flag) {
			return fmt.Errorf("--%s is about a server that try starts; a service of --attach stays as it is", flag)
		}
	}
	return nil
}

// fill adds the flags to what is asked, over the caller's environment.
func (m *tryMore) fill(a *try.Ask) error {
	for _, entry := range m.env {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			return fmt.Errorf("--env %q: write it as NAME=VALUE", entry)
		}
		a.Env[name] = value
	}
	a.First, a.User = m.start, m.user
	if m.pids != experiment.DefaultPIDs {
		a.PIDs = m.pids
	}
	if m.repeats > 1 {
		a.Repeats = m.repeats
	}
	return a.HoldAgainst(m.against)
}
