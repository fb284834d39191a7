package traffic

import (
	"context"
	"fmt"
	"net/netip"
	"syscall"
	"testing"

	"github.com/millicore/millicore/internal/load/agent"
)

// The addresses of a name are listed, and those without a load have a reason. That one of
// localhost's refuses is no caveat.
func TestAddressesAreNamed(t *testing.T) {
	at := func(addr string, err error) agent.Address {
		return agent.Address{Addr: netip.MustParseAddrPort(addr), Err: err}
	}
	refused := fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
	slow := fmt.Errorf("dial: %w", context.DeadlineExceeded)
	for _, c := range []struct {
		of           []agent.Address
		list, caveat string
	}{
		{[]agent.Address{at("192.0.2.1:80", nil)}, "", ""},
		{[]agent.Address{at("192.0.2.1:80", nil), at("[2001:db8::1]:80", nil)}, "192.0.2.1:80 and [2001:db8::1]:80, in turn", ""},
		{[]agent.Address{at("[::1]:80", refused), at("127.0.0.1:80", nil)}, "127.0.0.1:80; not [::1]:80 (connection refused)", ""},
		{[]agent.Address{at("192.0.2.1:80", nil), at("192.0.2.2:80", refused)}, "192.0.2.1:80; not 192.0.2.2:80 (connection refused)", "192.0.2.2:80 got no load: connection refused."},
		{[]agent.Address{at("192.0.2.1:80", nil), at("192.0.2.2:80", slow), at("192.0.2.3:80", refused)},
			"192.0.2.1:80; not 192.0.2.2:80 (no connection within 1 s) and 192.0.2.3:80 (connection refused)",
			"2 of the 3 addresses got no load, such as 192.0.2.2:80: no connection within 1 s."},
	} {
		named := namesOf(c.of)
		if list, caveat := addresses(named), leftOut(named); list != c.list || caveat != c.caveat {
			t.Errorf("%v: %q, %q; want %q, %q", c.of, list, caveat, c.list, c.caveat)
		}
	}
}

// Requests that were refused are counted by address.
func TestRefusedRequestsHaveTheirAddress(t *testing.T) {
	for want, of := range map[string]map[string]int64{
		"":                    nil,
		" by 192.0.2.1:80":    {"192.0.2.1:80": 5},
		": 5 by a and 1 by b": {"b": 1, "a": 5},
	} {
		if got := by(of); got != want {
			t.Errorf("%v: %q, want %q", of, got, want)
		}
	}
}
