package golang

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestMemoryKeepsTheNewest(t *testing.T) {
	for _, c := range []struct {
		name    string
		inserts int
		want    []string // sorted
	}{
		{"nothing yet", 0, nil},
		{"fewer than it keeps", 2, []string{"0", "1"}},
		{"as many as it keeps", 3, []string{"0", "1", "2"}},
		{"one more", 4, []string{"1", "2", "3"}},
		{"once round and on", 8, []string{"5", "6", "7"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := NewMemory(3)
			for i := range c.inserts {
				if err := m.Insert(t.Context(), Device{ID: strconv.Itoa(i)}); err != nil {
					t.Fatal(err)
				}
			}
			var have []string
			for _, d := range m.devices {
				have = append(have, d.ID)
			}
			slices.Sort(have)
			if !slices.Equal(have, c.want) {
				t.Errorf("keeps %v, want %v", have, c.want)
			}
		})
	}
}

func TestMemoryTakesInsertsAtOnce(t *testing.T) {
	const workers, each, kept = 8, 100, 50
	m := NewMemory(kept)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range each {
				_ = m.Insert(t.Context(), Device{})
			}
		})
	}
	all.Wait()
	if len(m.devices) != kept || m.oldest != (workers*each-kept)%kept {
		t.Errorf("keeps %d, oldest at %d; want %d, %d", len(m.devices), m.oldest, kept, (workers*each-kept)%kept)
	}
}

// hanging is a store that answers nothing, until the context ends.
type hanging struct{}

func (hanging) Insert(ctx context.Context, _ Device) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestAnInsertHasFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := New(Options{Store: hanging{}})
		begun := time.Now()
		w := httptest.NewRecorder()
		service.ServeHTTP(w, post("/devices", `{"mac":"00-00-5E-00-53-FF","firmware":"2.1.6"}`))
		if took := time.Since(begun); w.Code != http.StatusServiceUnavailable || took != 5*time.Second {
			t.Errorf("status %d after %v, want 503 after 5s", w.Code, took)
		}
		metrics := httptest.NewRecorder()
		service.ServeHTTP(metrics, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		for _, line := range []string{"device_insert_duration_seconds_count 1\n", "device_insert_duration_seconds_sum 5\n"} {
			if !strings.Contains(metrics.Body.String(), line) {
				t.Errorf("/metrics lacks %q", line)
			}
		}
	})
}

// recording is a store that records its context.
type recording struct{ ctx chan context.Context }

func (r recording) Insert(ctx context.Context, _ Device) error {
	r.ctx <- ctx
	return ctx.Err()
}

func TestAClientThatHangsUpDoesNotEndItsInsert(t *testing.T) {
	store := recording{make(chan context.Context, 1)}
	request := post("/devices", `{"mac":"00-00-5E-00-53-FF","firmware":"2.1.6"}`)
	ctx, hangUp := context.WithCancel(t.Context())
	hangUp()
	w := httptest.NewRecorder()
	New(Options{Store: store}).ServeHTTP(w, request.WithContext(ctx))
	if w.Code != http.StatusCreated {
		t.Errorf("status %d, body %s; want 201", w.Code, w.Body)
	}
	if _, limited := (<-store.ctx).Deadline(); !limited {
		t.Error("the insert has no deadline")
	}
}

// starting is a database that fails its first preparations with these errors.
type starting struct {
	Database
	errs     []error
	attempts int
}

func (s *starting) Prepare(ctx context.Context) error {
	s.attempts++
	if s.attempts > len(s.errs) {
		return nil
	}
	err := s.errs[s.attempts-1]
	if errors.Is(err, context.DeadlineExceeded) { // it hangs
		<-ctx.Done()
	}
	return err
}

func TestAwait(t *testing.T) {
	refused, unknown := errors.New("connection refused"), errors.New("no such database")
	hangs := context.DeadlineExceeded
	for _, c := range []struct {
		name     string
		errs     []error
		patience time.Duration
		want     error
		took     time.Duration
	}{
		{"at once", nil, time.Minute, nil, 0},
		{"at the third attempt", []error{refused, unknown}, time.Minute, nil, 400 * time.Millisecond},
		{"after an attempt that hung", []error{hangs}, time.Minute, nil, 5200 * time.Millisecond},
		{"never: the last reason", []error{refused, refused, unknown, refused}, 450 * time.Millisecond, unknown, 450 * time.Millisecond},
		{"cut off while it hangs: the reason before", []error{refused, hangs}, time.Second, refused, time.Second},
		{"cut off at the first attempt", []error{hangs}, time.Second, hangs, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.patience)
				defer cancel()
				begun := time.Now()
				err := Await(ctx, &starting{errs: c.errs})
				if took := time.Since(begun); !errors.Is(err, c.want) || took != c.took {
					t.Errorf("%v after %v, want %v after %v", err, took, c.want, c.took)
				}
			})
		})
	}
}
