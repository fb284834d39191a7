// Package contract checks that a running service keeps
// workloads/README.md, the one HTTP contract of all sample services. It
// knows a service by its base URL, so that one test serves every runtime. It does not
// check what differs between processes: flags, signals, memory.
package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
)

// An Option describes a setting of the service that differs from the default. The store
// is not an option: RunStore checks stores.
type Option func(*service)

// Workers says that the service was started with WORKERS=n.
func Workers(n int) Option { return func(s *service) { s.workers = uint64(n) } }

// Clustered says that the service was started with CLUSTER, so that each of its
// processes has counters of its own: what needs one map is not checked.
func Clustered() Option { return func(s *service) { s.clustered = true } }

// Run checks the service at baseURL, as http://127.0.0.1:8080, one subtest for
// each part of the contract. It adds devices, fills the map of counters, and
// sets the parallelism of the service and sets it back. The service is fresh
// from its start and has no other client, as its requests are counted.
func Run(t *testing.T, baseURL string, options ...Option) {
	s := at(t, baseURL)
	for _, o := range options {
		o(&s)
	}
	t.Run("devices are listed", s.listsDevices)
	t.Run("a device is added", s.addsDevice)
	t.Run("devices added at once get UUIDs of their own", s.addsDevicesAtOnce)
	t.Run("a bad device is refused", s.refusesDevice)
	t.Run("a body is taken up to its limit", s.limitsBody)
	t.Run("primes are counted", s.countsPrimes)
	t.Run("a bad n is refused", s.refusesNumber)
	t.Run("parallelism is reported and set", s.setsMaxProcs)
	t.Run("a loop is run by all workers", s.runsLoop)
	t.Run("concurrent loops are independent", s.runsLoopsAtOnce)
	t.Run("a bad n of a loop is refused", s.refusesLoop)
	t.Run("a counter that nobody made", s.missesCounter)
	t.Run("a bad counter is refused", s.refusesCounter)
	if !s.clustered {
		t.Run("counters add up", s.counts)
		t.Run("counters add up at once", s.countsAtOnce)
	}
	t.Run("health", s.isHealthy)
	t.Run("unknown routes", s.refusesRoute)
	t.Run("other methods", s.refusesMethod)
	t.Run("HEAD is GET without a body", s.answersHead)
	t.Run("connections are kept", s.keepsConnections)
	t.Run("answers have the same bytes", s.sendsTheSameBytes)
	t.Run("metrics count requests", s.countsRequests)
	t.Run("metrics count inserts", s.countsInserts)
	t.Run("metrics have no series of a client's making", s.boundsSeries)
	if !s.clustered {
		t.Run("a counter too many is refused", s.limitsCounters) // the last: the map is full then
	}
}

const jsonType = "application/json"

// service is the service under test.
type service struct {
	base      string
	client    *http.Client
	workers   uint64 // of loops and counters, 0 where the service chooses
	clustered bool
	made      map[string]bool // the keys of counters that add made
}

// at returns the service at baseURL, as Run takes it without options.
func at(t *testing.T, baseURL string) service {
	s := service{
		base: strings.TrimSuffix(baseURL, "/"),
		// The longest wait for an answer that a broken service may cause.
		client: &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}},
		made: make(map[string]bool),
	}
	t.Cleanup(s.client.CloseIdleConnections)
	return s
}

// reply is an answer read to its end.
type reply struct {
	status int
	length int64 // Content-Length, -1 without one
	header http.Header
	body   string
}

// request is what a check sends; the zero body is none.
type request struct {
	method, path, contentType, body string
}

// roundTrip sends a request and reads its answer.
func (s service) roundTrip(req *http.Request) (reply, error) {
	resp, err := s.client.Do(req)
	if err != nil {
		return reply{}, err // names method and URL
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{}, fmt.Errorf("%s %s: read the answer: %w", req.Method, req.URL, err)
	}
	return reply{resp.StatusCode, resp.ContentLength, resp.Header, string(body)}, nil
}

// build makes an HTTP request of r.
func (s service) build(ctx context.Context, r request) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, s.base+r.path, strings.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	if r.contentType != "" {
		req.Header.Set("Content-Type", r.contentType)
	}
	return req, nil
}

// do sends r and reads its answer; the test ends without one.
func (s service) do(t *testing.T, r request) reply {
	t.Helper()
	req, err := s.build(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return s.send(t, req)
}

func (s service) send(t *testing.T, req *http.Request) reply {
	t.Helper()
	r, err := s.roundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// atOnce sends all requests at the same time and returns their answers in the
// same order; the test ends where one has none.
func (s service) atOnce(t *testing.T, requests []request) []reply {
	t.Helper()
	replies := make([]reply, len(requests))
	var all errgroup.Group
	for i, r := range requests {
		all.Go(func() error {
			req, err := s.build(t.Context(), r)
			if err != nil {
				return err
			}
			replies[i], err = s.roundTrip(req)
			return err
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	return replies
}

func (s service) get(t *testing.T, path string) reply {
	t.Helper()
	return s.do(t, request{method: http.MethodGet, path: path})
}

func (s service) post(t *testing.T, path, body string) reply {
	t.Helper()
	return s.do(t, request{http.MethodPost, path, jsonType, body})
}

// wantJSON checks status and headers of a JSON answer, and its very bytes.
func (r reply) wantJSON(t *testing.T, status int, body string) {
	t.Helper()
	r.wantJSONHeaders(t, status)
	if diff := cmp.Diff(body, r.body); diff != "" {
		t.Errorf("body (-contract +service):\n%s", diff)
	}
}

func (r reply) wantJSONHeaders(t *testing.T, status int) {
	t.Helper()
	if r.status != status {
		t.Fatalf("status %d, want %d; body %.200q", r.status, status, r.body)
	}
	if got := r.header.Get("Content-Type"); got != jsonType {
		t.Errorf("Content-Type %q, want %s", got, jsonType)
	}
	if r.length != int64(len(r.body)) {
		t.Errorf("Content-Length %d for %d bytes", r.length, len(r.body))
	}
}

// wantRefusal checks that the answer is {"error": reason} and nothing else.
func (r reply) wantRefusal(t *testing.T, status int) {
	t.Helper()
	r.wantJSONHeaders(t, status)
	var refusal struct {
		Error string `json:"error"`
	}
	strictly(t, r.body, &refusal)
	if refusal.Error == "" {
		t.Errorf("no reason in %q", r.body)
	}
}

// wantText checks a text answer up to its headers.
func (r reply) wantText(t *testing.T, status int) {
	t.Helper()
	if r.status != status {
		t.Fatalf("status %d, want %d; body %.200q", r.status, status, r.body)
	}
	if kind, _, err := mime.ParseMediaType(r.header.Get("Content-Type")); err != nil || kind != "text/plain" {
		t.Errorf("Content-Type %q, want text/plain", r.header.Get("Content-Type"))
	}
}

// strictly decodes a JSON body that has no key but those of into.
func strictly(t *testing.T, body string, into any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("decode %.200q: %v", body, err)
	}
}
