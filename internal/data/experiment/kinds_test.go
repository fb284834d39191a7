package experiment

import (
	"fmt"
	"slices"
	"testing"
)

func TestKindsOfRequests(t *testing.T) {
	many := make([]Request, MostKinds+1)
	for i := range many {
		many[i] = Request{Method: "GET", Path: fmt.Sprint("/", i)}
	}
	for _, c := range []struct {
		name string
		mix  []Request
		want []string
	}{
		{"one request", nil, nil},
		{"by method and path", []Request{{Method: "GET", Path: "/a?x=1"}, {Method: "POST", Path: "/a"}, {Method: "GET", Path: "/a?x=2"}}, []string{"GET /a", "POST /a", "GET /a"}},
		{"by name", []Request{{Method: "GET", Path: "/users/1", Name: "user"}, {Method: "GET", Path: "/users/2", Name: "user"}, {GRPC: "p.S/M"}}, []string{"user", "user", "p.S/M"}},
		{"all of one name", []Request{{Method: "GET", Path: "/a?x=1"}, {Method: "GET", Path: "/a?x=2"}}, nil},
		{"too many", many, nil},
		{"as many as are counted", many[:MostKinds], func() (all []string) {
			for i := range MostKinds {
				all = append(all, fmt.Sprint("GET /", i))
			}
			return all
		}()},
	} {
		if got := (&Load{Request: Request{Method: "GET", Path: "/"}, Mix: c.mix}).Kinds(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	steps := &Load{Session: true, Mix: []Request{{Method: "GET", Path: "/a?x=1"}, {Method: "GET", Path: "/a?x=2"}, {Method: "GET", Path: "/b", Name: "b"}, {Method: "GET", Path: "/a"}, {Method: "GET", Path: "/c", Name: "b"}}}
	if got, want := steps.Kinds(), []string{"GET /a", "GET /a (step 2)", "b", "GET /a (step 4)", "b"}; !slices.Equal(got, want) {
		t.Errorf("a session: %q, want %q", got, want)
	}
}
