package contract

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

func (s service) countsPrimes(t *testing.T) {
	for path, body := range map[string]string{
		"/isPrime/0":      `{"n":0,"prime":false}`,
		"/isPrime/1":      `{"n":1,"prime":false}`,
		"/isPrime/2":      `{"n":2,"prime":true}`,
		"/isPrime/3":      `{"n":3,"prime":true}`,
		"/isPrime/4":      `{"n":4,"prime":false}`,
		"/isPrime/9":      `{"n":9,"prime":false}`,
		"/isPrime/007":    `{"n":7,"prime":true}`,
		"/isPrime/7919":   `{"n":7919,"prime":true}`,
		"/isPrime/104730": `{"n":104730,"prime":false}`,
		"/isPrime/666666": `{"n":666666,"prime":false}`,
		"/isPrime/666667": `{"n":666667,"prime":true}`,
	} {
		t.Run(path, func(t *testing.T) {
			s.get(t, path).wantJSON(t, http.StatusOK, body)
		})
	}
}

func (s service) refusesNumber(t *testing.T) {
	for name, path := range map[string]string{
		"a word":            "/isPrime/seven",
		"negative":          "/isPrime/-7",
		"signed":            "/isPrime/+7",
		"a fraction":        "/isPrime/7.0",
		"an exponent":       "/isPrime/1e3",
		"hexadecimal":       "/isPrime/0x7",
		"an underscore":     "/isPrime/1_000",
		"a space behind":    "/isPrime/7%20",
		"over its bound":    "/isPrime/1000000001",
		"2 to the 64th":     "/isPrime/18446744073709551616",
		"of 1,000 digits":   "/isPrime/" + strings.Repeat("9", 1000),
		"digits not ASCII":  "/isPrime/%D9%A7",
		"an encoded slash":  "/isPrime/7%2F7",
		"letters behind it": "/isPrime/7n",
	} {
		t.Run(name, func(t *testing.T) {
			s.get(t, path).wantRefusal(t, http.StatusBadRequest)
		})
	}
}

var (
	maxProcsForm = regexp.MustCompile(`^(\S+) is using ([1-9]\d*) CPUs and there are ([1-9]\d*) CPUs available\n$`)
	maxProcsSet  = regexp.MustCompile(`^(\S+) is now using ([1-9]\d*) CPUs, previously it was using ([1-9]\d*) CPUs\n$`)
)

func (s service) setsMaxProcs(t *testing.T) {
	before := s.get(t, "/maxProcs")
	if before.status == http.StatusNotFound {
		s.hasNoMaxProcs(t)
		return
	}
	before.wantText(t, http.StatusOK)
	got := maxProcsForm.FindStringSubmatch(before.body)
	if got == nil {
		t.Fatalf("GET /maxProcs answered %q, want the form of %v", before.body, maxProcsForm)
	}
	runtime, procs, available := got[1], got[2], got[3]

	s.setMaxProcs(t, runtime, procs, "3")
	if got, want := s.get(t, "/maxProcs").body, fmt.Sprintf("%s is using 3 CPUs and there are %s CPUs available\n", runtime, available); got != want {
		t.Errorf("after setting 3: %q, want %q", got, want)
	}
	if s.workers == 0 {
		s.runLoop(t, 10, 3)
	}
	s.setMaxProcs(t, runtime, "3", procs)

	for _, n := range []string{"0", "-1", "1025", "three", "99999999999999999999"} {
		t.Run("not to "+n, func(t *testing.T) {
			s.post(t, "/maxProcs/"+n, "").wantRefusal(t, http.StatusBadRequest)
		})
	}
	t.Run("by another method", func(t *testing.T) {
		s.post(t, "/maxProcs", "").wantOtherMethod(t, "GET, HEAD")
		s.get(t, "/maxProcs/3").wantOtherMethod(t, "POST")
	})
	if after := s.get(t, "/maxProcs").body; after != before.body {
		t.Errorf("after all: %q, before: %q", after, before.body)
	}
}

// hasNoMaxProcs checks that both routes are unknown ones, whatever is asked of
// them: a runtime sets its parallelism or has no such route.
func (s service) hasNoMaxProcs(t *testing.T) {
	for _, r := range []request{
		{method: "GET", path: "/maxProcs"},
		{method: "POST", path: "/maxProcs"},
		{method: "GET", path: "/maxProcs/3"},
		{method: "POST", path: "/maxProcs/3"},
		{method: "POST", path: "/maxProcs/three"},
	} {
		t.Run(r.method+" "+r.path, func(t *testing.T) {
			s.do(t, r).wantRefusal(t, http.StatusNotFound)
		})
	}
}

func (s service) setMaxProcs(t *testing.T, runtime, from, to string) {
	t.Helper()
	r := s.do(t, request{method: http.MethodPost, path: "/maxProcs/" + to})
	r.wantText(t, http.StatusOK)
	set := maxProcsSet.FindStringSubmatch(r.body)
	if set == nil || set[1] != runtime || set[2] != to || set[3] != from {
		t.Errorf("POST /maxProcs/%s answered %q, want %q", to, r.body,
			fmt.Sprintf("%s is now using %s CPUs, previously it was using %s CPUs\n", runtime, to, from))
	}
}
