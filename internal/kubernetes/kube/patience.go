package kube

import (
	"context"
	"errors"
	"net/http"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// usualPatience is the default of Client.Patience, for interactive use.
const usualPatience = 10 * time.Second

// patiently repeats a request while the server is busy or unavailable: an upgrade or
// an overload of the API server must not fail trials.
func (c *Client) patiently(ctx context.Context, method string, ask func(context.Context) error) error {
	began := time.Now()
	for wait := patience(0); ; {
		err := within(ctx, ask)
		if err == nil || ctx.Err() != nil || !passing(method, err) {
			return err
		}
		if seconds, asked := apierrors.SuggestsClientDelay(err); asked {
			wait = max(wait, patience(time.Duration(seconds)*time.Second/2)) // sleep doubles it
		}
		if time.Since(began) >= c.Patience {
			return err
		}
		wait.sleep(ctx)
	}
}

func within(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, brief)
	defer cancel()
	return ask(ctx)
}

// passing reports whether a request may succeed if it is repeated. A POST is repeated
// only if the server did certainly not process it.
func passing(method string, err error) bool {
	var said *apierrors.StatusError
	switch {
	case errors.As(err, &said):
		switch said.ErrStatus.Code {
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			return true
		case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
			return method != http.MethodPost
		}
		return false
	case method == http.MethodPost:
		return errors.Is(err, syscall.ECONNREFUSED)
	}
	return true
}
