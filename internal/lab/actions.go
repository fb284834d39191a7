package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/load/serviceclient"
)

// act sends the service's actions when they are due, to all replicas concurrently,
// until ctx ends with the traffic. An action that fails is a failure of the trial: the
// measurement is not what the experiment specifies.
func (t *trial) act(ctx context.Context, begin time.Time) error {
	start := begin.Add(cut(t.exp, t.cell).Warmup)
	for _, a := range t.cell.Service.Actions {
		select {
		case <-time.After(time.Until(start.Add(a.At))):
		case <-ctx.Done():
			return nil
		}
		var failures failures
		var sent sync.WaitGroup
		for _, r := range serving(t.deployment.service) {
			sent.Go(func() { failures.add(send(ctx, t.cell.Load.Protocol, r.Address(), a.Request, t.cell.Load.Timeout)) })
		}
		sent.Wait()
		if err := failures.joined(); err != nil {
			return fmt.Errorf("action %s %s at %v: %w", a.Request.Method, a.Request.Path, a.At, err)
		}
	}
	return nil
}

// send sends one request to a replica, and expects a status of 200 to 299.
func send(ctx context.Context, protocol, address string, r experiment.Request, timeout time.Duration) error {
	// The service may be overloaded on purpose, so an action waits longer than a user.
	ctx, cancel := context.WithTimeout(ctx, max(10*time.Second, timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.Method, serviceclient.URL(protocol, address, r.Path), strings.NewReader(r.Body))
	if err != nil {
		return err
	}
	for k, v := range r.Headers {
		req.Header.Set(k, v)
	}
	answer, err := serviceclient.Client(protocol, 0).Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20))
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		err = errors.Join(err, fmt.Errorf("the service answered %s", answer.Status))
	}
	return errors.Join(err, answer.Body.Close())
}
