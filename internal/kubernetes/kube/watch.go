package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Watch calls each for every object that matches a selector (ADDED), and then for
// every change: ADDED, MODIFIED or DELETED. Servers end a watch after some minutes.
// Watch then connects again, also after an outage, and reports all objects as ADDED
// again. It does not report objects that were deleted in between; a caller that
// needs that must list. Watch returns the error of ctx when it ends, an error of
// each, or the server's error if it refuses for longer than Client.Patience: during
// an upgrade a server may refuse every client for a moment.
func (k Kind[T]) Watch(ctx context.Context, c *Client, selector string, each func(change watch.EventType, o *T) error) error {
	var refusing time.Time // since when the server refuses; zero: it does not
	hopeless := func(err error) bool {
		switch {
		case !refused(err):
			refusing = time.Time{}
		case refusing.IsZero():
			refusing = time.Now()
		}
		return refused(err) && time.Since(refusing) >= c.Patience
	}
	for wait := patience(0); ; wait.sleep(ctx) {
		all, version, err := k.list(ctx, c, selector)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if hopeless(err) {
				return err
			}
			continue
		}
		for i := range all {
			if err := each(watch.Added, &all[i]); err != nil {
				return err
			}
		}
		began := time.Now()
		err = k.follow(ctx, c, selector, version, each)
		var own *eachError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &own):
			return own.err
		case hopeless(err):
			return err
		case time.Since(began) > time.Minute:
			wait = 0
		}
	}
}

// refused reports whether repeating the request is useless.
func refused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsBadRequest(err)
}

// eachError is the caller's own.
type eachError struct{ err error }

func (e *eachError) Error() string { return e.err.Error() }

// follow reports the changes since a version, until the stream ends.
func (k Kind[T]) follow(ctx context.Context, c *Client, selector, version string, each func(watch.EventType, *T) error) error {
	query := url.Values{"watch": {"true"}, "resourceVersion": {version}, "allowWatchBookmarks": {"true"}, "timeoutSeconds": {"300"}}
	if selector != "" {
		query.Set("labelSelector", selector)
	}
	answer, err := c.do(ctx, http.MethodGet, k.path(c, "", ""), query, nil, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	events := json.NewDecoder(answer.Body)
	for {
		var event metav1.WatchEvent
		if err := events.Decode(&event); err != nil {
			return err
		}
		switch watch.EventType(event.Type) {
		case watch.Added, watch.Modified, watch.Deleted:
		case watch.Error: // "too old": the objects are listed again
			return fmt.Errorf("watch %s: %s", k.Plural, event.Object.Raw)
		default: // a bookmark
			continue
		}
		o := new(T)
		if err := json.Unmarshal(event.Object.Raw, o); err != nil {
			return fmt.Errorf("watch %s: %w", k.Plural, err)
		}
		if err := each(watch.EventType(event.Type), o); err != nil {
			return &eachError{err}
		}
	}
}

// patience is the wait before the next request.
type patience time.Duration

func (p *patience) sleep(ctx context.Context) {
	*p = min(max(2**p, patience(100*time.Millisecond)), patience(5*time.Second))
	timer := time.NewTimer(time.Duration(*p))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
