package ports

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/host/proc"
)

// A container listens where it can be reached from outside, or it does not count. Docker's
// DNS server, at 127.0.0.11, is not the container's.
func TestWhereAContainerIsReached(t *testing.T) {
	own := netip.MustParseAddr("10.1.2.3")
	for _, c := range []struct {
		listens string
		want    string
		err     string
	}{
		{"0.0.0.0:80 127.0.0.11:41234", "[10.1.2.3:80]", ""},
		{"[::]:8080 0.0.0.0:80 [::]:80", "[10.1.2.3:80 10.1.2.3:8080]", ""},
		{"10.1.2.3:9 127.0.0.1:5", "[10.1.2.3:9]", ""},
		{"[::ffff:0.0.0.0]:7", "[10.1.2.3:7]", ""},
		{"127.0.0.1:8080 127.0.0.11:1", "", "listens only on 127.0.0.1:8080"},
		{"127.0.0.11:41234", "", "listens on no TCP port"},
		{"", "", "listens on no TCP port"},
	} {
		var all []proc.Socket
		for _, at := range strings.Fields(c.listens) {
			all = append(all, proc.Socket{Local: netip.MustParseAddrPort(at), Listens: true})
		}
		got, err := reachableAt(all, own)
		if c.err == "" && (err != nil || fmt.Sprint(got) != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %v, %v, want %s%s", c.listens, got, err, c.want, c.err)
		}
	}
}
