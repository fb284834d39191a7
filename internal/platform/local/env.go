package local

import (
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/host/runtimes"
)

// messages are variables between the caller and its parent, which would mislead a
// service. Those with MILLICORE_ are this program's own.
var messages = []string{"NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "MILLICORE_SCOPE", "MILLICORE_UNIT", "PORT"}

// inherited is the caller's environment without the variables that services must not
// inherit. dropped are those that configure a runtime: a variable in the caller's
// shell would change the measurement without a trace in the record. An experiment
// sets such variables under env.
func inherited(environ []string) (env, dropped []string) {
	for _, line := range environ {
		name, _, _ := strings.Cut(line, "=")
		switch {
		case runtimes.IsEnvKnob(name):
			dropped = append(dropped, name)
		case !slices.Contains(messages, name):
			env = append(env, line)
		}
	}
	return env, dropped
}

// environment returns the variables of a replica: the inherited ones, PORT and those of
// the unit, without those that the unit unsets, sorted by name.
func environment(inherited []string, port string, stated map[string]string, unset []string) []string {
	all := map[string]string{}
	for _, line := range inherited {
		if name, value, ok := strings.Cut(line, "="); ok && name != "" {
			all[name] = value
		}
	}
	if port != "" {
		all["PORT"] = port
	}
	for name, value := range stated {
		all[name] = value
	}
	for _, name := range unset {
		delete(all, name)
	}
	env := make([]string, 0, len(all))
	for name, value := range all {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// lookup returns a variable's value.
func lookup(env []string, name string) string {
	for _, line := range env {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return value
		}
	}
	return ""
}
