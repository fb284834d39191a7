package try

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// Beside a neighbour the three settings differ in their limit and their weight only, and each
// runs beside the same neighbour.
func TestThreeSettingsBesideANeighbour(t *testing.T) {
	a := testAsk("./server", "${port}")
	a.Neighbour, a.CPU, a.CPUs, a.Memory = "2", "500m", []string{"500m"}, ""
	variants := Variants(a, experiment.Limits{CPUMillis: 500}, Seen{Info: goInfo}, runtimes.Machine{Online: 4})
	e, err := file.Build(a.Name(), a.Settings(variants), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]experiment.Limits{}
	for i := range e.Cells {
		c := &e.Cells[i]
		got[c.Service.Name] = c.Limits
		n := c.Service.Neighbour()
		if n == nil || n.Limits.CPUMillis != 2000 || n.Limits.RequestMillis != 2000 {
			t.Errorf("%s: the neighbour is %+v", c.Service.Name, n)
		}
	}
	of := func(cpu, request int64) experiment.Limits {
		return experiment.Limits{CPUMillis: cpu, RequestMillis: request, Period: 100 * time.Millisecond, Replicas: 1}
	}
	if d := cmp.Diff(map[string]experiment.Limits{"as-is": of(500, 500), "no-limit": of(0, 0), "request-only": of(0, 500)}, got); d != "" {
		t.Error(d)
	}
	a.CPU = "1"
	variants = Variants(a, experiment.Limits{CPUMillis: 1000}, Seen{Info: goInfo}, runtimes.Machine{Online: 4})
	if at := slices.IndexFunc(variants, func(v Variant) bool { return v.Service == "request-only" }); at < 0 || variants[at].NoEffect == "" {
		t.Errorf("a request of 1 CPU is measured although it changes nothing: %+v", variants)
	}
}

func TestANeighbourThatShowsNothingIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Ask)
		want   string
	}{
		"no number":      {func(a *Ask) { a.Neighbour = "many" }, `--neighbour: "many" is not a quantity of CPUs`},
		"nothing":        {func(a *Ask) { a.Neighbour = "0" }, "as in 2 or 500m"},
		"too fine":       {func(a *Ask) { a.Neighbour = "500.5m" }, `--neighbour: "500.5m" has a finer resolution`},
		"too little":     {func(a *Ask) { a.Neighbour = "9m" }, "10m or more"},
		"too much":       {func(a *Ask) { a.Neighbour = "2001m" }, "--neighbour 2001m: this machine has 2 CPUs, and"},
		"no limit":       {func(a *Ask) { a.CPU = "" }, "give --cpu one limit"},
		"several limits": {func(a *Ask) { a.CPUs = []string{"500m", "1"} }, "give --cpu one limit"},
		"two servers":    {func(a *Ask) { a.Against = []string{"./old"} }, "leave out --against"},
		"as it is only":  {func(a *Ask) { a.AsIsOnly = true }, "leave out --as-is"},
		"as it should":   {func(*Ask) {}, ""},
	} {
		a := testAsk("./server")
		a.Neighbour = "2"
		c.change(a)
		if err := a.checkNeighbour(2); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
