package try

import (
	"maps"
	"strings"
	"testing"
)

func TestVariablesOfTheServer(t *testing.T) {
	env, err := variables([]string{"GOMAXPROCS=4", "HOME=/root"}, []string{"A=b=c", "GOMAXPROCS=2", "EMPTY="})
	if want := map[string]string{"A": "b=c", "GOMAXPROCS": "2", "EMPTY": ""}; err != nil || !maps.Equal(env, want) {
		t.Errorf("%q, %v", env, err)
	}
	for _, wrong := range []string{"A", "=b"} {
		if _, err := variables(nil, []string{wrong}); err == nil || !strings.Contains(err.Error(), "NAME=VALUE") {
			t.Errorf("--env %q: %v", wrong, err)
		}
	}
}
