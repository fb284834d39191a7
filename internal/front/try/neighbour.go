package try

import (
	"errors"
	"fmt"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/quantity"
)

// checkNeighbour checks --neighbour, beside which one server is measured under one limit and
// without it, on a machine of some CPUs.
func (a *Ask) checkNeighbour(cpus int) error {
	if a.Neighbour == "" {
		return nil
	}
	v, err := quantity.CPU(a.Neighbour)
	millis, _ := v.(int64)
	switch {
	case err != nil:
		return fmt.Errorf("--neighbour: %w", err)
	case millis < 10: // the least quota of the kernel
		return fmt.Errorf("--neighbour %s: write the CPUs that it uses, 10m or more, as in 2 or 500m", a.Neighbour)
	case millis > 1000*int64(cpus):
		return fmt.Errorf("--neighbour %s: this machine has %s, and a neighbour cannot use more", a.Neighbour, display.Counted(int64(cpus), "CPU"))
	case a.CPU == "" || a.severalLimits():
		return errors.New("--neighbour shows what one CPU limit costs and protects: give --cpu one limit")
	case a.Against != nil:
		return errors.New("--neighbour measures one server with its limit and without it: leave out --against")
	case a.AsIsOnly:
		return errors.New("--neighbour measures the server without its limit too: leave out --as-is")
	}
	return nil
}

// neighbour is the dependency that is a busy neighbour, in a list, as keys of a service. Its
// request is as large as its limit, so that it weighs as much as it wants.
func (a *Ask) neighbour() []any {
	if a.Neighbour == "" {
		return nil
	}
	limits := map[string]any{"cpu": a.Neighbour, "request": a.Neighbour}
	return []any{map[string]any{"name": experiment.Neighbour, "limits": limits}}
}

// besideNeighbour are the settings of a server beside a neighbour: under its CPU limit, with a
// request as large, as Kubernetes sets it; without both; and with the request only.
func (a *Ask) besideNeighbour(asIs Variant, millis int64) []Variant {
	asIs.Request = a.CPU
	free := Variant{Service: noLimit, Label: "without the CPU limit", Unlimited: true, Limits: "no CPU limit", Reason: "what the limit costs, and what it protects"}
	weight := free
	weight.Service, weight.Label, weight.Request = "request-only", "CPU request only", a.CPU
	weight.Reason = "a request of " + display.CPULimit(float64(millis)/1000) + " is only a weight, which divides busy CPUs"
	if millis == 1000 {
		weight.NoEffect = "a request of 1 CPU is the weight that it has without one"
	}
	return []Variant{asIs, free, weight}
}
