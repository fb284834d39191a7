// Package requests converts the requests of a load for agents, and makes the calls of gRPC that
// come before a load: for schemas, for the health of the service, and to try a request.
package requests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/load/agent"
	"github.com/millicore/millicore/internal/load/protocol"
	"github.com/millicore/millicore/internal/load/reflection"
	"github.com/millicore/millicore/internal/load/serviceclient"
	"github.com/millicore/millicore/internal/load/session"
	"github.com/millicore/millicore/internal/load/wire"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// Of converts the requests of a load for an agent.
func Of(l *experiment.Load) []protocol.Request {
	var all []protocol.Request
	kinds, names := l.Kinds(), session.Names(nil)
	for i, r := range l.AllRequests() {
		one := request(&r, l.Timeout)
		one.Recorded = l.Recording != nil
		if kinds != nil {
			one.Kind = kinds[i]
		}
		if l.Session {
			one.Step = &protocol.Step{Think: protocol.Duration(cmp.Or(r.Think, l.Think)), Capture: r.Capture, Names: slices.Clone(names)}
			names = session.Names(names, r.Capture)
		}
		all = append(all, one)
	}
	return all
}

func request(r *experiment.Request, timeout time.Duration) protocol.Request {
	one := protocol.Request{Weight: r.Weight, Method: r.Method, Path: r.Path,
		Headers: r.Headers, Body: r.Body, Raw: r.Inputs.Body}
	if r.GRPC != "" {
		call(&one, r, timeout)
	}
	if r.Inputs.Authorization != "" {
		one.Headers = maps.Clone(one.Headers)
		if one.Headers == nil {
			one.Headers = map[string]string{}
		}
		// Braces in it are no placeholder.
		one.Headers["Authorization"] = strings.ReplaceAll(r.Inputs.Authorization, "{{", `{{"{{"}}`)
	}
	if r.Check != nil {
		one.Check = &protocol.Check{Status: r.Check.Status, Contains: r.Check.Contains}
	}
	return one
}

// call makes a request a call of gRPC, with the headers that these have.
func call(one *protocol.Request, r *experiment.Request, timeout time.Duration) {
	one.Call = &protocol.Call{Method: r.GRPC, Schema: r.Inputs.Schema, Gzip: r.Gzip, Largest: r.Largest}
	one.Headers = map[string]string{
		"Content-Type": "application/grpc", "Te": "trailers",
		"Grpc-Timeout": strconv.FormatInt(wire.Deadline(timeout).Microseconds(), 10) + "u",
	}
	if r.Gzip {
		one.Headers["Grpc-Encoding"], one.Headers["Grpc-Accept-Encoding"] = "gzip", "gzip"
	}
	for name, value := range r.Headers {
		one.Headers[textproto.CanonicalMIMEHeaderKey(name)] = value
	}
}

// describedWithin is the timeout of a service that is asked for its schemas.
const describedWithin = 10 * time.Second

// Describe asks the service at one of the targets for the schemas of the calls of gRPC that
// name no file, on one connection.
func Describe(ctx context.Context, l *experiment.Load, targets []string) error {
	calls := slices.DeleteFunc(l.Calls(), func(r *experiment.Request) bool { return r.Inputs.Schema != nil })
	at := slices.IndexFunc(targets, func(target string) bool { return target != "" }) // else it has gone
	if len(calls) == 0 || at < 0 {
		return nil
	}
	client, err := serviceclient.AsLoad(l, targets[at])
	if err != nil {
		return err
	}
	client.Timeout, client.Transport.(*http.Transport).DisableKeepAlives = 0, false
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, describedWithin)
	defer cancel()
	for _, r := range calls {
		c, err := asker(client, l, r, targets[at])
		if err != nil {
			return err
		}
		if r.Inputs.Schema, err = c.Schema(ctx, r.GRPC); errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("reflection: the service did not answer within %v; or name a file with its schema: load.request.proto (load and try: --proto)", describedWithin)
		}
		if err != nil {
			return fmt.Errorf("the schema of %s: %w", r.GRPC, err)
		}
	}
	return nil
}

// healthyWithin is how long a service may take until it serves.
const healthyWithin = 30 * time.Second

// AwaitHealth waits until a target answers grpc.health.v1 that it serves.
func AwaitHealth(ctx context.Context, l *experiment.Load, target string) error {
	client, err := serviceclient.AsLoad(l, target)
	if err != nil {
		return err
	}
	c, err := asker(client, l, &l.Request, target)
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, healthyWithin)
	defer cancel()
	var none *reflection.Failed
	_, err = supervise.AwaitProbe(within, 20*time.Millisecond, func(ctx context.Context) (string, error) {
		err := c.Serving(ctx, "")
		if errors.As(err, &none) && none.Unknown() { // it never will
			cancel()
		}
		return target, err
	})
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(within.Err(), context.DeadlineExceeded):
		return fmt.Errorf("the service does not serve after %v: %w", healthyWithin, err)
	}
	return err
}

// asker sends Millicore's own calls with the headers of a request, and without its deadline.
func asker(client *http.Client, l *experiment.Load, r *experiment.Request, target string) (*reflection.Client, error) {
	one := request(r, l.Timeout)
	one.Call, one.Body, one.Raw = nil, "", nil
	c, _, _, err := caller(client, l, one, target)
	if err == nil {
		c.Headers.Del("Grpc-Timeout")
		c.Headers.Del("Grpc-Encoding")
	}
	return c, err
}

// Call makes the first call of a load as an agent would, and awaits its answer. The error of a
// call that a load counts as bad is a reflection.Failed. The schema must be known.
func Call(ctx context.Context, client *http.Client, l *experiment.Load, target string) error {
	c, body, want, err := caller(client, l, Of(l)[0], target)
	if err == nil {
		_, err = c.Call(ctx, l.Request.Path, body, want)
	}
	return err
}

// caller sends requests with the headers of one of a load's, whose body and answer it returns.
func caller(client *http.Client, l *experiment.Load, r protocol.Request, target string) (*reflection.Client, []byte, *wire.Call, error) {
	address := target
	if strings.HasPrefix(target, "unix:") {
		address = "localhost"
	}
	head, body, want, err := agent.Sample(address, r)
	if err != nil {
		return nil, nil, nil, err
	}
	return &reflection.Client{HTTP: client, URL: serviceclient.URL(l.Protocol, address, ""), Headers: head.Header, Host: head.Host}, body, want, nil
}
