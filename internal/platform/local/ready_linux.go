package local

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Waits between two looks whether a replica serves. Each look costs it some of
// its quota, an answer more than a connection.
const (
	connectEvery = 5 * time.Millisecond
	askEvery     = 20 * time.Millisecond
	askPatience  = 2 * time.Second
)

// serves waits until a replica's port accepts or, if path is not empty, until
// GET path answers with a status of 200 to 299. When ctx ends first, the error
// says what the last look saw.
func serves(ctx context.Context, address, path string) error {
	look, every := connects, connectEvery
	if path != "" {
		look, every = answers(path), askEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	var seen error
	for {
		err := look(ctx, address)
		if err == nil {
			return nil
		}
		if seen == nil || ctx.Err() == nil { // what the end of ctx broke off saw nothing
			seen = err
		}
		select {
		case <-ctx.Done():
			return seen
		case <-tick.C:
		}
	}
}

func connects(ctx context.Context, address string) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// answers returns a look at a health path.
func answers(path string) func(context.Context, string) error {
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, Proxy: nil},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       askPatience,
	}
	return func(ctx context.Context, address string) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		response.Body.Close()
		if response.StatusCode < 200 || response.StatusCode > 299 {
			return fmt.Errorf("GET %s answers %s", path, response.Status)
		}
		return nil
	}
}
