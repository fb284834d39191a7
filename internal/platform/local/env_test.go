package local

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInherited(t *testing.T) {
	env, dropped := inherited([]string{
		"HOME=/home/u", "GOMAXPROCS=4", "NODE_OPTIONS=--max-old-space-size=64", "DOTNET_gcServer=1", "MALLOC_ARENA_MAX=2",
		"NOTIFY_SOCKET=/run/x", "MILLICORE_SCOPE=millicore-7.scope", "PORT=80", "GOMAXPROCSX=1", "EMPTY=",
	})
	if diff := cmp.Diff([]string{"HOME=/home/u", "GOMAXPROCSX=1", "EMPTY="}, env); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"GOMAXPROCS", "NODE_OPTIONS", "DOTNET_gcServer", "MALLOC_ARENA_MAX"}, dropped); diff != "" {
		t.Error(diff)
	}
}

func TestEnvironment(t *testing.T) {
	base := []string{"A=1", "B=2", "C=3", "A=later wins", "=::=odd"}
	for _, test := range []struct {
		name   string
		port   string
		stated map[string]string
		unset  []string
		want   []string
	}{
		{"inherited", "", nil, nil, []string{"A=later wins", "B=2", "C=3"}},
		{"port", "8080", nil, nil, []string{"A=later wins", "B=2", "C=3", "PORT=8080"}},
		{"stated wins, also over the port", "8080", map[string]string{"A": "x", "PORT": "1"}, nil, []string{"A=x", "B=2", "C=3", "PORT=1"}},
		{"stated empty is present", "", map[string]string{"A": ""}, nil, []string{"A=", "B=2", "C=3"}},
		{"unset wins over all", "8080", map[string]string{"A": "x"}, []string{"A", "PORT", "NONE"}, []string{"B=2", "C=3"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, environment(base, test.port, test.stated, test.unset)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
