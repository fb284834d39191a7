package supervise

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/millicore/millicore/internal/data/experiment"
)

// Loopback returns the host of a URL, and whether it is a loopback address: the
// machine or the container that opens the URL.
func Loopback(link string) (host string, itself bool) {
	u, err := url.Parse(link)
	if err != nil {
		return "", false
	}
	host = u.Hostname()
	return host, host == "localhost" || net.ParseIP(host).IsLoopback()
}

// ExpandCommand replaces the ${names} in each word of a command.
func ExpandCommand(words []string, vars map[string]string) ([]string, error) {
	all := make([]string, len(words))
	for i, word := range words {
		expanded, err := experiment.Expand(word, vars)
		if err != nil {
			return nil, fmt.Errorf("command: %w", err)
		}
		all[i] = expanded
	}
	return all, nil
}

// ExpandEnv replaces the ${names} in the values of env.
func ExpandEnv(env, vars map[string]string) (map[string]string, error) {
	all := make(map[string]string, len(env))
	for name, value := range env {
		expanded, err := experiment.Expand(value, vars)
		if err != nil {
			return nil, fmt.Errorf("env %s: %w", name, err)
		}
		all[name] = expanded
	}
	return all, nil
}

// ReplicaName is the name of a replica's file, control group or container.
func ReplicaName(trial int, unit string, index int) string {
	return fmt.Sprintf("trial%03d-%s-%d", trial, SafeName(unit), index)
}

// SafeName makes a name valid for a file or a control group: every character that
// is not a letter, a digit, a dash, a dot or an underscore becomes a dash, and
// leading dots are removed.
func SafeName(name string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '-'
	}, name)
	return strings.TrimLeft(safe, ".")
}
