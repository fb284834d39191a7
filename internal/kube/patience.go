package kube

import (
	"context"
	"errors"
	"net/http"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// usualPatience is how long a request is asked again, for somebody who looks on.
const usualPatience = 10 * time.Second

// patiently asks, and asks again while the server is busy or away: an API server
// that is upgraded, or has too many requests, must not cost a run its trials.
func (c *Client) patiently(ctx context.Context, method string, ask func(context.Context) error) error {
	began := time.Now()
	for wait := patience(0); ; {
		err := within(ctx, ask)
		if err == nil || ctx.Err() != nil || !passing(method, err) {
			return err
		}
		if seconds, asked := apierrors.SuggestsClientDelay(err); asked {
			wait = max(wait, patience(time.Duration(seconds)*time.Second/2)) // it is doubled
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

// passing tells whether a request can be asked again, and may then be answered.
// One that makes something is only asked again where it was surely not heeded.
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
