package supervise

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"
)

// AnswersLater reports whether a replica that accepts connections cannot answer GET path well yet,
// as one that listens before its workers have loaded the application: its first good answer takes
// a second longer than twice the next one. It waits for at most the timeout.
func AnswersLater(ctx context.Context, protocol, path, address string, timeout time.Duration) bool {
	const later = time.Second
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answers := Answers(protocol, http.MethodGet, path, 299)
	good := false
	next := func() time.Duration {
		began := time.Now()
		_, err := AwaitProbe(ctx, requestEvery, func(ctx context.Context) (string, error) {
			err := answers(ctx, address)
			if good = err == nil; good || ctx.Err() == nil && !os.IsTimeout(err) && !errors.Is(err, context.DeadlineExceeded) {
				return address, nil // it answers, if not well, or refuses: time shows no more
			}
			return address, err
		})
		good = good && err == nil
		return time.Since(began)
	}
	took := next()
	return good && took > later && took > later+2*next()
}
