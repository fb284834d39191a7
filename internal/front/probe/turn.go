package probe

import (
	"math"

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
