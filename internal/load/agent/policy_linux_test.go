package agent

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/test/testkit"
)

func TestAnAgentRefusesFIFO(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy uint32
		want   string
	}{{"fifo", unix.SCHED_FIFO, "the scheduling policy is SCHED_FIFO"}, {"round robin", unix.SCHED_RR, ""}} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			var err error
			testkit.UnderPolicy(t, c.policy, func() { err = Serve(strings.NewReader(""), &out) })
			if (err != nil) != (c.want != "") || !strings.Contains(out.String(), c.want) {
				t.Errorf("error %v, the lab gets %q, want %q", err, out.String(), c.want)
			}
		})
	}
}
