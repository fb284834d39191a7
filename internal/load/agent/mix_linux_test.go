package agent

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/millicore/millicore/internal/load/protocol"
)

// Requests of several kinds are sent in the proportions of their weights. Each has its own
// values and its own check.
func TestMixOfRequests(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	came := map[string]int{}
	var numbers []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		kind, number, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		came[r.Method+" "+kind]++
		numbers = append(numbers, number)
		switch kind {
		case "absent":
			http.Error(w, "nothing", http.StatusNotFound)
		case "wrong":
			fmt.Fprint(w, "bad day")
		case "echo":
			w.Write(body)
		}
	}))
	defer server.Close()
	p := byNumber(strings.TrimPrefix(server.URL, "http://"), 4000, 7)
	p.Threads, p.Seed = 2, 5
	p.Requests = []protocol.Request{
		{Path: "/plain/{{seq}}", Weight: 4},
		{Path: "/absent/{{seq}}", Weight: 2, Check: &protocol.Check{Status: []int{404}, Contains: "noth"}},
		{Method: "HEAD", Path: "/head/{{seq}}"},
		{Path: "/wrong/{{seq}}", Check: &protocol.Check{Contains: "good day"}},
		{Path: "/absent/{{seq}}"},
		{Method: "POST", Path: "/echo/{{seq}}", Body: `{"n":{"is":{{seq}}}}`, Headers: map[string]string{"X-Id": "{{uuid}}"},
			Check: &protocol.Check{Contains: `{"n":{"is":`}},
		{Method: "POST", Path: "/echo/{{seq}}", Raw: []byte("{{\x00"), Check: &protocol.Check{Contains: "{{\x00"}},
	}
	for i, kind := range []string{"GET plain", "GET absent", "HEAD head", "GET wrong", "GET absent", "POST echo", "POST echo"} {
		p.Requests[i].Kind = kind
	}
	all := sum(trial(t, serve(t), p))
	good := int64(0)
	for kind, n := range came {
		k := all.Kinds[kind]
		if k == nil || k.Ended != int64(n) || k.Latency.Count() != k.Good {
			t.Errorf("%s is counted as %+v, want %d", kind, k, n)
			continue
		}
		good += k.Good
	}
	if good != all.Good || len(all.Kinds) != len(came) || all.Kinds["GET wrong"].Good != 0 {
		t.Errorf("%d good ones of %d by kind, %d kinds", good, all.Good, len(all.Kinds))
	}
	for kind, weight := range map[string]int{"GET plain": 4, "GET absent": 3, "HEAD head": 1, "GET wrong": 1, "POST echo": 2} {
		share := float64(came[kind]) / 4000 * 11 / float64(weight)
		if share < 0.8 || share > 1.2 {
			t.Errorf("%s came %d times of 4000; want %d of 11", kind, came[kind], weight)
		}
	}
	slices.Sort(numbers)
	if n := len(slices.Compact(numbers)); n != 4000 {
		t.Errorf("%d different numbers of 4000 requests", n)
	}
	if all.Failed != int64(came["GET wrong"]) {
		t.Errorf("%d failed their check; want all %d of /wrong", all.Failed, came["GET wrong"])
	}
	bad := all.Status["404"] - all.Wanted["404"]
	if all.BadStatus() != bad || bad == 0 || all.Wanted["404"] == 0 || all.Status["404"] != int64(came["GET absent"]) {
		t.Errorf("%d answers of a bad status, by code %d; status %v, wanted %v", all.BadStatus(), bad, all.Status, all.Wanted)
	}
	if all.Good != 4000-all.Failed-bad || all.Ended() != 4000 || all.Latency.Count() != all.Good {
		t.Errorf("good %d, failed %d, bad %d, ended %d, latencies %d", all.Good, all.Failed, bad, all.Ended(), all.Latency.Count())
	}
}

func TestInvalidRequests(t *testing.T) {
	t.Parallel()
	for want, requests := range map[string][]protocol.Request{
		"no request":                              nil,
		"a weight of -1":                          {{Weight: -1}},
		"{{x}} is not a placeholder":              {{Path: "/{{x}}"}},
		"check: 99 is not a valid status":         {{Check: &protocol.Check{Status: []int{99}}}},
		"no more than 9223372036854775807 in all": {{Weight: math.MaxInt}, {Weight: 1}},
	} {
		p := byNumber("127.0.0.1:1", 1, 1)
		p.Requests = requests
		if _, err := serve(t).Prepare(t.Context(), p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want in it: %s", err, want)
		}
	}
}
