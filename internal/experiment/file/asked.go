package file

import (
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/experiment"
)

// readAsked reads what is sent: one request, or several.
func (c *cellReader) readAsked(l *load, out *experiment.Load) {
	if len(l.Mix) == 0 {
		out.Request = c.readTraffic(&l.Request)
		return
	}
	for i := range l.Mix {
		one := &l.Mix[i]
		r := c.readTraffic(&one.traffic)
		weight, _ := read(c, &one.Weight)
		r.Weight = int(weight)
		out.Mix = append(out.Mix, r)
	}
	out.Request = out.Mix[0]
}

// readTraffic reads a request of the load.
func (c *cellReader) readTraffic(t *traffic) experiment.Request {
	out := c.readRequest(&t.request)
	out.BodyFile = t.BodyFile.value
	if out.BodyFile != "" && t.Body.given && !c.absent(&t.Body.scalar) {
		c.conflict(strings.TrimSuffix(t.Body.path, ".body"), []*scalar{&t.BodyFile.scalar, &t.Body.scalar}, "body and body_file exclude one another; keep one")
	}
	if a := &t.Auth; a.given {
		out.Auth = &experiment.Auth{Basic: a.Basic.value, Bearer: a.Bearer.value}
		for name := range out.Headers {
			if strings.EqualFold(name, "Authorization") {
				c.conflict(strings.TrimSuffix(a.Basic.path, ".basic_env"), []*scalar{&a.Basic.scalar, &a.Bearer.scalar}, "the header %s is set by auth; keep one", name)
			}
		}
	}
	if k := &t.Check; k.given {
		out.Check = new(experiment.Check)
		for i := range k.Status {
			if code, ok := read(c, &k.Status[i]); ok {
				out.Check.Status = append(out.Check.Status, int(code))
			}
		}
		slices.Sort(out.Check.Status)
		out.Check.Contains, _ = read(c, &k.Contains)
	}
	return out
}
