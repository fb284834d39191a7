package lab

import (
	"context"
	"fmt"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/load/agent"
	"github.com/millicore/millicore/internal/load/protocol"
	"github.com/millicore/millicore/internal/load/reflection"
	"github.com/millicore/millicore/internal/load/serviceclient"
)

// call makes a request a call of gRPC, with the headers that these have. Its deadline is a
// little before the timeout, so that the service's DEADLINE_EXCEEDED arrives.
func call(one *protocol.Request, r *experiment.Request, timeout time.Duration) {
	one.Call = &protocol.Call{Method: r.GRPC, Schema: r.Inputs.Schema}
	one.Headers = map[string]string{
		"Content-Type": "application/grpc", "Te": "trailers",
		"Grpc-Timeout": strconv.FormatInt((timeout-min(timeout/20, 50*time.Millisecond)).Microseconds(), 10) + "u",
	}
	for name, value := range r.Headers {
		one.Headers[textproto.CanonicalMIMEHeaderKey(name)] = value
	}
}

// describedWithin is the timeout of a service that is asked for its schema.
const describedWithin = 10 * time.Second

// Describe asks the service at one of the targets for the schemas of the calls of gRPC that
// name no file.
func Describe(ctx context.Context, l *experiment.Load, targets []string) error {
	ctx, cancel := context.WithTimeout(ctx, describedWithin)
	defer cancel()
	for _, r := range l.Calls() {
		if r.Inputs.Schema != nil {
			continue
		}
		for _, target := range targets {
			if target == "" { // it has gone
				continue
			}
			var err error
			if r.Inputs.Schema, err = schemaOf(ctx, l, r, target); err != nil {
				return fmt.Errorf("the schema of %s: %w", r.GRPC, err)
			}
			break
		}
	}
	return nil
}

func schemaOf(ctx context.Context, l *experiment.Load, r *experiment.Request, target string) ([]byte, error) {
	client, err := serviceclient.AsLoad(l, target)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	return caller(client, l, r, target).Schema(ctx, r.GRPC)
}

// Call makes the first call of a load as an agent would, and awaits its answer. The error of a
// call that failed is a reflection.Failed. The schema must be known.
func Call(ctx context.Context, client *http.Client, l *experiment.Load, target string) error {
	body, err := agent.Body(requests(l)[0])
	if err == nil {
		_, err = caller(client, l, &l.Request, target).Call(ctx, l.Request.Path, body)
	}
	return err
}

func caller(client *http.Client, l *experiment.Load, r *experiment.Request, target string) *reflection.Client {
	address := target
	if strings.HasPrefix(target, "unix:") {
		address = "localhost"
	}
	c := &reflection.Client{HTTP: client, URL: serviceclient.URL(l.Protocol, address, ""), Headers: http.Header{}}
	for name, value := range r.Headers {
		switch {
		case strings.Contains(value, "{{"): // it differs from call to call
		case strings.EqualFold(name, "Host"):
			c.Host = value
		default:
			c.Headers.Set(name, value)
		}
	}
	if r.Inputs.Authorization != "" {
		c.Headers.Set("Authorization", r.Inputs.Authorization)
	}
	return c
}
