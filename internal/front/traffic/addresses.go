package traffic

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/load/agent"
)

// Address is an address of a target's name.
type Address struct {
	Address string `json:"address"`       // with its port
	Why     string `json:"why,omitempty"` // it gets no load; "": it gets its share
}

// addressesOf are the addresses of a target; nil if it has one.
func addressesOf(target string, sources []string) ([]Address, error) {
	if strings.HasPrefix(target, "unix:") {
		return nil, nil
	}
	all, err := agent.Addresses(target, sources)
	return namesOf(all), err
}

func namesOf(all []agent.Address) []Address {
	if len(all) < 2 {
		return nil
	}
	named := make([]Address, 0, len(all))
	for _, a := range all {
		named = append(named, Address{a.Addr.String(), whyLeftOut(a.Err)})
	}
	return named
}

func whyLeftOut(err error) string {
	var errno syscall.Errno
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.DeadlineExceeded):
		return "no connection within 1 s"
	case errors.As(err, &errno):
		return errno.Error()
	}
	return err.Error()
}

// addresses lists those that get the load, and those that do not; "" for a single one.
func addresses(all []Address) string {
	var used, out []string
	for _, a := range all {
		if a.Why == "" {
			used = append(used, a.Address)
		} else {
			out = append(out, fmt.Sprintf("%s (%s)", a.Address, a.Why))
		}
	}
	text := phrase.List(used)
	if len(used) > 1 {
		text += ", in turn"
	}
	if len(out) > 0 {
		text += "; not " + phrase.List(out)
	}
	return text
}

// leftOut says which addresses get no load; "" if there are none but of loopback, where a
// service often listens on one of localhost's.
func leftOut(all []Address) string {
	out := slices.DeleteFunc(slices.Clone(all), func(a Address) bool {
		addr, err := netip.ParseAddrPort(a.Address)
		return a.Why == "" || err == nil && addr.Addr().IsLoopback()
	})
	switch len(out) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s got no load: %s.", out[0].Address, out[0].Why)
	}
	return fmt.Sprintf("%d of the %d addresses got no load, such as %s: %s.", len(out), len(all), out[0].Address, out[0].Why)
}
