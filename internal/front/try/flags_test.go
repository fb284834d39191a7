package try

import (
	"maps"
	"strings"
	"testing"
)

func TestVariablesOfTheServer(t *testing.T) {
	t.Setenv("MILLICORE_TEST_E", "from here")
	env, err := variables(Caller([]string{"GOMAXPROCS=4", "HOME=/root"}), []string{"A=b=c", "GOMAXPROCS=2", "EMPTY=", "MILLICORE_TEST_E"})
	if want := map[string]string{"A": "b=c", "GOMAXPROCS": "2", "EMPTY": "", "MILLICORE_TEST_E": "from here"}; err != nil || !maps.Equal(env, want) {
		t.Errorf("%q, %v", env, err)
	}
	for _, wrong := range []string{"MILLICORE_TEST_UNSET", "=b", ""} {
		if _, err := variables(map[string]string{}, []string{wrong}); err == nil || !strings.Contains(err.Error(), "NAME=VALUE") {
			t.Errorf("--env %q: %v", wrong, err)
		}
	}
}
