package file

import (
	"slices"

	"github.com/millicore/millicore/internal/data/experiment/span"
)

// readServer checks that the settings of one server are services of the experiment.
func (d *decoder) readServer() {
	n := d.root.child("server")
	d.out.Server = d.doc.Server
	items := n.child("settings").items
	if d.doc.Server == nil || len(items) != len(d.doc.Server.Settings) {
		return // one of them is no map, which was reported
	}
	for i, s := range d.doc.Server.Settings {
		at := items[i].child("service")
		switch known := slices.ContainsFunc(d.doc.Services, func(one named[service]) bool { return one.name == s.Service }); {
		case at.bad:
		case s.Service != "" && !known:
			d.report(at, "there is no service %q", s.Service)
		case s.Service == "" && i == 0:
			d.report(items[i], "the first setting needs a service: the others are compared with it")
		case s.Service == "" && s.NoEffect == "":
			d.report(items[i], "a setting needs a service, or no_effect")
		}
	}
}

// checkCommonLoad checks the second part of a run of searches.
func (d *decoder) checkCommonLoad() {
	c, n := d.out.Measure.Common, d.root.find("measure.common_load")
	if c == nil {
		return
	}
	if c.Repeats > mostRepeats {
		d.report(n.child("repeats"), "%d are more than %d", c.Repeats, mostRepeats)
	}
	if c.Duration < d.out.Measure.Interval && !d.root.find("measure.interval").bad {
		d.report(n.child("duration"), "a trial of %s is shorter than a frame of %s", span.Text(c.Duration), span.Text(d.out.Measure.Interval))
	}
}
