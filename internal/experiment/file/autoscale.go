package file

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/millicore/millicore/internal/experiment"
)

// autoscale is a service's.
type autoscale struct {
	optional
	Min fixed[count, int64] `yaml:"min" default:"1" doc:"Number of replicas at first, and the fewest."`
	Max fixed[count, int64] `yaml:"max,required" doc:"The most replicas."`
	CPU fixed[share, int64] `yaml:"cpu,required" doc:"CPU that the replicas are to use on average, in percent of what they request, as in 60%."`
}

// readAutoscale reads how a service is scaled in a cell, and begins the cell at
// the fewest replicas. limits are those that l says.
func (c *cellReader) readAutoscale(s *service, l *limits, k *requests, limits *experiment.Limits) *experiment.Autoscale {
	a := &s.Autoscale
	if !a.given || a.Min.bad || a.Max.bad || a.CPU.bad {
		return nil
	}
	out := &experiment.Autoscale{Min: int(a.Min.value), Max: int(a.Max.value), CPUPercent: int(a.CPU.value)}
	path := strings.TrimSuffix(a.Max.path, ".max")
	if out.Max > mostReplicas {
		c.wrong(&a.Max.scalar, "%d are more than %d", out.Max, mostReplicas)
		return nil
	}
	if a.Max.given && out.Max <= out.Min {
		c.conflict(path, []*scalar{&a.Max.scalar, &a.Min.scalar}, "from %d to %d replicas nothing can be scaled; raise max", out.Min, out.Max)
		return nil
	}
	if l.Replicas.given && !c.absent(&l.Replicas.scalar) {
		c.conflict("", []*scalar{&a.Min.scalar, &a.Max.scalar, &l.Replicas.scalar}, "%s contradicts %s, which says how many there are; leave out one", path, l.Replicas.path)
	}
	// The share is one of the request, which is the limit where none is given.
	if requested := k.CPU.given && k.CPU.value > 0; !requested && limits.CPUMillis == 0 && !l.CPU.bad {
		c.conflict(a.CPU.path, []*scalar{&a.CPU.scalar, &l.CPU.scalar}, "%d%% of no request and no limit of CPU; set limits.cpu or kubernetes.requests.cpu", out.CPUPercent)
	}
	limits.Replicas = out.Min
	return out
}

// checkScaling finds experiments that need services of a fixed size.
func (r *reader) checkScaling() {
	for i := range r.doc.Services.entries {
		s := &r.doc.Services.entries[i]
		a := &s.value.Autoscale
		switch {
		case !a.given:
		case r.benchmark:
			r.problems.add(a.at, "services."+s.name+".autoscale", "a benchmark has one replica; leave autoscale out")
		case r.doc.Load.searches():
			r.problems.add(a.at, "services."+s.name+".autoscale", "a search compares loads on a service of one size; raise the load in a ramp instead, or leave autoscale out")
		}
	}
}

// share is a percentage that may exceed 100: what is requested is no limit.
type share struct{}

const mostShare = 1000

var shareSyntax = syntaxOf(`^[1-9][0-9]{0,3}%$`)

func (share) read(s string) (int64, error) {
	number, err := strconv.ParseInt(strings.TrimSuffix(s, "%"), 10, 64)
	switch {
	case err == nil && number > 0 && !strings.HasSuffix(s, "%"):
		return 0, fmt.Errorf("%q is no share; did you mean %q?", s, s+"%")
	case !shareSyntax.MatchString(s) || number > mostShare:
		return 0, fmt.Errorf("%q is no whole percentage from 1%% to %d%%, as in 60%%", s, mostShare)
	}
	return number, nil
}
func (share) schema() *jsonschema.Schema { return shareSyntax.schema("string") }
