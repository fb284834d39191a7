// Package life is what it takes to keep a replica alive on any platform of this
// machine: its words with the names in them replaced, its log, and the waits
// before it is started again. How one is started, and how it is seen to have
// died, is the platform's.
package life

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/experiment"
)

// ReadyTimeout holds where a unit states none.
const ReadyTimeout = 30 * time.Second

// Steady is how long a replica must live on after it first served: one that puts
// itself in the background serves just before its first process ends.
const Steady = 50 * time.Millisecond

// RestartAfter is the usual wait before a dead replica's first restart. (A
// kubelet begins at 10 s and ends at 5 min.)
const RestartAfter = time.Second

// ErrDied says that a replica ended before it was ready.
var ErrDied = errors.New("it ended before it was ready")

// Backoff is the wait before a restart: First, doubling with every death to ten
// times First; a life longer than that begins again at First.
type Backoff struct {
	First time.Duration
	now   time.Duration
}

// Next is the wait after a life that was so long.
func (b *Backoff) Next(ran time.Duration) time.Duration {
	longest := 10 * b.First
	if b.now == 0 || ran > longest {
		b.now = b.First
	}
	wait := b.now
	b.now = min(2*b.now, longest)
	return wait
}

// Sleep waits, and reports false if ctx ended first.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// FirstCause returns the error of a replica that failed of itself rather than
// because another had failed before.
func FirstCause(errs []error) error {
	var first error
	for _, err := range errs {
		if err != nil && (first == nil || errors.Is(first, context.Canceled)) {
			first = err
		}
	}
	return first
}

// FirstOfEach joins errors and leaves out repetitions: cells differ in little.
func FirstOfEach(errs []error) error {
	seen := map[string]bool{}
	var kept []error
	for _, err := range errs {
		if err != nil && !seen[err.Error()] {
			seen[err.Error()] = true
			kept = append(kept, err)
		}
	}
	return errors.Join(kept...)
}

// LeaderFirst puts the process that was started first at the head of all; one
// that has ended is not among them.
func LeaderFirst(all []int, leader int) []int {
	if i := slices.Index(all, leader); i > 0 {
		all = slices.Insert(slices.Delete(all, i, i+1), 0, leader)
	}
	return all
}

// Loopback gives the host of a URL, and tells whether it is the machine, or the
// container, of whoever asks.
func Loopback(link string) (host string, itself bool) {
	u, err := url.Parse(link)
	if err != nil {
		return "", false
	}
	host = u.Hostname()
	return host, host == "localhost" || net.ParseIP(host).IsLoopback()
}

// Words expands each word of a command.
func Words(words []string, vars map[string]string) ([]string, error) {
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

// Env expands the values of env.
func Env(env, vars map[string]string) (map[string]string, error) {
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

// Name is the name of a replica, which can be one of a file, a group or a
// container: what is not a letter, a digit, a dash or a dot becomes a dash.
func Name(trial int, unit string, index int) string {
	return fmt.Sprintf("trial%03d-%s-%d", trial, SafeName(unit), index)
}

// SafeName is a name that can be one of a file or a group.
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
