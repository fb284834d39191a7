package agent

import (
	"strings"
	"testing"
)

func TestAnAgentOfAnotherVersionIsRefused(t *testing.T) {
	const one, other = "v1.2.0", "v1.1.0-4-g8aef67d"
	for _, c := range []struct {
		name, own, agents string
		refused           string // in the error; "": accepted
	}{
		{"the same", one, one, ""},
		{"not known of this program", "", other, ""},
		{"another", one, other, "version v1.1.0-4-g8aef67d, and this program has version v1.2.0"},
		{"an old agent that sends none", one, "", "version unknown"},
	} {
		err := sameBuild(c.own, c.agents)
		if (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v, want %q", c.name, err, c.refused)
		}
	}
}
