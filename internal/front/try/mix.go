package try

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/data/captured"
	"github.com/millicore/millicore/internal/data/experiment"
)

// turn is the load whose Request is the one of the mix that is sent as the nth, from 0. Over
// many turns each request has its weight, and the first ones differ: they are spread by the
// golden ratio.
func turn(l *experiment.Load, n int) *experiment.Load {
	if len(l.Mix) == 0 {
		return l
	}
	if l.Session {
		return alone(l, n)
	}
	sum := 0
	for i := range l.Mix {
		sum += weight(&l.Mix[i])
	}
	_, at := math.Modf(float64(n) * (math.Phi - 1))
	left := int(at * float64(sum))
	one := *l
	for i := range l.Mix {
		if left -= weight(&l.Mix[i]); left < 0 || i == len(l.Mix)-1 {
			one.Request = plain(l.Mix[i])
			break
		}
	}
	return &one
}

// alone is the load whose Request is the nth, in turn, of those of a session that need no value
// from an earlier answer. The first one is always such.
func alone(l *experiment.Load, n int) *experiment.Load {
	var free []int
	for i, r := range l.Mix {
		text := r.Path + r.Body
		for _, value := range r.Headers {
			text += value
		}
		needs := slices.ContainsFunc(l.Mix[:i], func(earlier experiment.Request) bool {
			return slices.ContainsFunc(slices.Collect(maps.Keys(earlier.Capture)), func(name string) bool { return strings.Contains(text, "{{"+name+"}}") })
		})
		if !needs {
			free = append(free, i)
		}
	}
	one := *l
	one.Request = plain(l.Mix[free[n%len(free)]])
	return &one
}

func weight(r *experiment.Request) int { return max(1, r.Weight) }

// plain is a request without placeholders for braces, which an agent would replace.
func plain(r experiment.Request) experiment.Request {
	r.Path, r.Body = captured.Plain(r.Path), captured.Plain(r.Body)
	headers := make(map[string]string, len(r.Headers))
	for name, value := range r.Headers {
		headers[name] = captured.Plain(value)
	}
	r.Headers = headers
	return r
}
