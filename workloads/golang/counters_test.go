package golang

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
)

// TestCountersAtOnce is what the race detector looks at: the contract's test has
// a binary without it.
func TestCountersAtOnce(t *testing.T) {
	const clients, requests, n = 8, 20, 1001
	service := New(Options{Store: NewMemory(1), Workers: 3})
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			for range requests {
				key := strconv.Itoa(client % 2)
				for _, r := range []*http.Request{
					post("/counter/"+key+"?n="+strconv.Itoa(n), ""),
					httptest.NewRequest(http.MethodGet, "/counter/"+key, nil),
				} {
					w := httptest.NewRecorder()
					if service.ServeHTTP(w, r); w.Code != http.StatusOK {
						t.Errorf("%s %s: status %d, body %s", r.Method, r.URL, w.Code, w.Body)
					}
				}
			}
		})
	}
	all.Wait()
	for _, key := range []string{"0", "1"} {
		w := httptest.NewRecorder()
		service.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/counter/"+key, nil))
		want := `{"key":"` + key + `","value":` + strconv.Itoa(clients/2*requests*n) + `}`
		if w.Body.String() != want {
			t.Errorf("%s, want %s", w.Body, want)
		}
	}
}

func TestARefusedCounterIsNotMade(t *testing.T) {
	c := newCounters(loops{workers: 1})
	for i := range maxKeys {
		if !c.reserve(strconv.Itoa(i)) {
			t.Fatalf("key %d of %d is refused", i+1, maxKeys)
		}
	}
	if c.reserve("more") || len(c.sums) != maxKeys {
		t.Errorf("the map holds %d keys, want %d", len(c.sums), maxKeys)
	}
	if !c.reserve("0") {
		t.Error("a full map refuses a key that it holds")
	}
}
