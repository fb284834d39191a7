package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/data/record"
)

// incomparable lists what makes sides not comparable, each contrast once: the
// machine, and what was asked of the service.
func incomparable(matches []Match) []Contrast {
	all := []Contrast{}
	for i := range matches {
		m := &matches[i]
		found := append(machines(&m.A.Run.Host, &m.B.Run.Host), asked(m)...)
		for _, c := range found {
			if !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// contrasts collects what differs.
type contrasts []Contrast

func (c *contrasts) add(what, a, b string) {
	if a != b {
		*c = append(*c, Contrast{what, a, b})
	}
}

// known adds a contrast where both sides are known.
func (c *contrasts) known(what, a, b string) {
	if a != "" && b != "" {
		c.add(what, a, b)
	}
}

// bytes adds a contrast of two numbers of bytes, of which 0 is none. Two that are
// too close for their units are written in bytes.
func (c *contrasts) bytes(what string, a, b int64) {
	text := func(n int64) string {
		switch {
		case n == 0:
			return "none"
		case a != b && sameMemory(a, b):
			return display.Grouped(n) + " B"
		}
		return display.Bytes(float64(n))
	}
	c.add(what, text(a), text(b))
}

func machines(a, b *record.Host) []Contrast {
	var c contrasts
	c.known("system", a.OS+"/"+a.Arch, b.OS+"/"+b.Arch)
	c.known("CPU", a.CPUModel, b.CPUModel)
	c.add("CPUs", strconv.Itoa(a.CPUs), strconv.Itoa(b.CPUs))
	if a.Memory != nil && b.Memory != nil && !sameMemory(*a.Memory, *b.Memory) {
		c.bytes("memory", *a.Memory, *b.Memory)
	}
	c.known("kernel", a.Kernel, b.Kernel)
	if a.HZ != nil && b.HZ != nil {
		c.add("kernel's HZ", strconv.Itoa(*a.HZ), strconv.Itoa(*b.HZ))
	}
	c.known("cgroups", a.Cgroup, b.Cgroup)
	return c
}

// sameMemory: what a kernel keeps for itself at boot differs by less than 1%.
func sameMemory(a, b int64) bool {
	return math.Abs(float64(a-b)) <= 0.01*float64(max(a, b))
}

// asked lists what the two cells' services were asked differently.
func asked(m *Match) []Contrast {
	a, b := &m.A.Plan.Load, &m.B.Plan.Load
	var c contrasts
	c.add("platform", m.A.Run.Platform, m.B.Run.Platform)
	c.add("load", loadKind(a), loadKind(b))
	sent(&c, a.AllRequests(), b.AllRequests())
	c.add("protocol", cmp.Or(a.Protocol, experiment.Protocols[0]), cmp.Or(b.Protocol, experiment.Protocols[0]))
	c.add("think time", a.Think.String(), b.Think.String())
	c.add("may wait", bound(a.Waiting), bound(b.Waiting))
	c.add("timeout", span.Text(a.Timeout), span.Text(b.Timeout))
	c.add("objective", objective(m.A.Run.Experiment), objective(m.B.Run.Experiment))
	return c
}

// bound is how many requests may wait for a connection.
func bound(n *int64) string {
	if n == nil {
		return "any number"
	}
	return strconv.FormatInt(*n, 10)
}

// sent lists how the requests differ, one by one in their order.
func sent(c *contrasts, a, b []experiment.Request) {
	if len(a) != len(b) {
		c.add("requests", lines(a), lines(b))
		return
	}
	for i := range a {
		c.add("request", line(&a[i]), line(&b[i]))
		c.add("request body", body(&a[i]), body(&b[i]))
		if a[i].Body != b[i].Body && len(a[i].Body) == len(b[i].Body) {
			c.add("request body", "one of its length", "another one")
		}
		if !maps.Equal(a[i].Headers, b[i].Headers) {
			c.add("request headers", pairs(a[i].Headers), pairs(b[i].Headers))
		}
		c.add("request check", check(a[i].Check), check(b[i].Check))
		c.add("request auth", auth(a[i].Auth), auth(b[i].Auth))
	}
}

// line is a request in short: "3 x GET /a".
func line(r *experiment.Request) string {
	if r.Weight > 1 {
		return fmt.Sprintf("%d x %s %s", r.Weight, r.Method, r.Path)
	}
	return r.Method + " " + r.Path
}

func lines(all []experiment.Request) string {
	var text []string
	for i := range all {
		text = append(text, line(&all[i]))
	}
	return strings.Join(text, ", ")
}

func body(r *experiment.Request) string {
	if r.BodyFile != "" {
		return "the file " + r.BodyFile
	}
	return size(r.Body)
}

func check(k *experiment.Check) string {
	if k == nil {
		return "none"
	}
	return strings.TrimSpace(fmt.Sprintf("%v %q", k.Status, k.Contains))
}

func auth(a *experiment.Auth) string {
	switch {
	case a == nil:
		return "none"
	case a.Basic != "":
		return "basic, from " + a.Basic
	}
	return "bearer, from " + a.Bearer
}

func loadKind(l *experiment.Load) string {
	if l.Benchmark {
		return "none: it measures itself"
	}
	kind := "open loop"
	if l.Users != nil {
		kind = "closed loop"
	}
	switch target := l.Target(); {
	case l.Find:
		return kind + ", searched for its breaking point"
	case target != nil && len(target.Stages) > 0:
		return kind + ", in stages"
	}
	return kind + ", constant"
}

func size(body string) string {
	if body == "" {
		return "none"
	}
	return fmt.Sprintf("%d bytes", len(body))
}

func objective(e *experiment.Experiment) string {
	if e.Objective == nil {
		return "none"
	}
	return e.Objective.String()
}

// settings lists what was set differently, which is what a comparison is about:
// of two cells of one record what it varied, of two records everything.
func settings(m *Match) []Contrast {
	c := contrasts{}
	if one, other := settingOf(&m.A), settingOf(&m.B); one != "" && other != "" {
		c.add("setting", one, other)
	} else {
		c.add("service", m.A.Plan.Service.Name, m.B.Plan.Service.Name)
	}
	varied(&c, m.A.Plan.Vary, m.B.Plan.Vary)
	if m.A.Run == m.B.Run {
		return c
	}
	services(&c, &m.A.Plan.Service, &m.B.Plan.Service)
	limits(&c, &m.A.Plan.Limits, &m.B.Plan.Limits)
	loads(&c, &m.A.Plan.Load, &m.B.Plan.Load)
	a, b := m.A.Run, m.B.Run
	c.add("warm-up", a.Experiment.Measure.Warmup.String(), b.Experiment.Measure.Warmup.String())
	c.add("measured", measured(&m.A), measured(&m.B))
	for _, name := range names(a.Host.Runtimes, b.Host.Runtimes) {
		c.known(name, a.Host.Runtimes[name], b.Host.Runtimes[name])
	}
	c.add("millicore", a.Program, b.Program)
	return c
}

// settingOf is the label of the cell's setting of a server, without its limit; "": the cell
// is none. The name of its service is made for files.
func settingOf(c *Cell) string {
	if s := c.Run.Experiment.Server; s != nil {
		for i := range s.Settings {
			if s.Settings[i].Service == c.Plan.Service.Name {
				return s.Settings[i].Label
			}
		}
	}
	return ""
}

func measured(c *Cell) string {
	if d := c.Run.Experiment.Measure.Measured(c.Plan); d > 0 {
		return span.Text(d.Round(time.Millisecond))
	}
	return "until it is done"
}

func varied(c *contrasts, a, b []experiment.Setting) {
	value := func(of []experiment.Setting, name string) string {
		for _, s := range of {
			if s.Name == name && s.Value != nil {
				return *s.Value
			}
		}
		return "unset"
	}
	var seen []string
	for _, s := range slices.Concat(a, b) {
		if !slices.Contains(seen, s.Name) {
			seen = append(seen, s.Name)
			c.add(s.Name, value(a, s.Name), value(b, s.Name))
		}
	}
}

func services(c *contrasts, a, b *experiment.Service) {
	c.add("workload", a.Workload, b.Workload)
	c.add("image", a.Image, b.Image)
	c.add("arguments", strings.Join(a.Args, " "), strings.Join(b.Args, " "))
	c.add("volumes", strings.Join(a.Volumes, " "), strings.Join(b.Volumes, " "))
	c.add("command", strings.Join(a.Command, " "), strings.Join(b.Command, " "))
	for _, name := range names(a.Env, b.Env, referred(a), referred(b)) {
		c.add(name, env(a, name), env(b, name))
		if same, known := secret.Compare(a.EnvHashes[name], b.EnvHashes[name]); known && !same && env(a, name) == env(b, name) {
			c.add(name, "a hidden value", "another one")
		}
	}
}

func env(s *experiment.Service, name string) string {
	if v, ok := s.Env[name]; ok {
		return v
	}
	if r, ok := s.EnvFrom[name]; ok {
		return r.String()
	}
	return "unset"
}

// referred are the variables of a service whose values are not in the file.
func referred(s *experiment.Service) map[string]string {
	all := make(map[string]string, len(s.EnvFrom))
	for name := range s.EnvFrom {
		all[name] = ""
	}
	return all
}

func limits(c *contrasts, a, b *experiment.Limits) {
	c.add("CPU limit", millis(a.CPUMillis), millis(b.CPUMillis))
	c.add("CPU request", millis(a.RequestMillis), millis(b.RequestMillis))
	c.add("burst", millis(a.BurstMillis), millis(b.BurstMillis))
	c.add("period", span.Text(a.Period), span.Text(b.Period))
	c.bytes("memory limit", a.Memory, b.Memory)
	c.add("CPU set", a.CPUSet, b.CPUSet)
	c.add("replicas", strconv.Itoa(a.Replicas), strconv.Itoa(b.Replicas))
}

func millis(n int64) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprintf("%dm", n)
}

func loads(c *contrasts, a, b *experiment.Load) {
	if !a.Find && !b.Find && a.Target() != nil && b.Target() != nil {
		c.add("highest load", number(a.Target().Highest()), number(b.Target().Highest()))
	}
	c.add("requests", strconv.FormatInt(a.Requests, 10), strconv.FormatInt(b.Requests, 10))
	c.add("even spacing", strconv.FormatBool(a.Even), strconv.FormatBool(b.Even))
	c.add("agents", strconv.Itoa(a.Agents), strconv.Itoa(b.Agents))
	c.add("connections", strconv.Itoa(a.Connections), strconv.Itoa(b.Connections))
}

// names are the keys of all, sorted.
func names(of ...map[string]string) []string {
	var all []string
	for _, one := range of {
		all = slices.AppendSeq(all, maps.Keys(one))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// pairs writes a map on one line.
func pairs(of map[string]string) string {
	if len(of) == 0 {
		return "none"
	}
	var all []string
	for _, k := range slices.Sorted(maps.Keys(of)) {
		all = append(all, k+": "+of[k])
	}
	return strings.Join(all, ", ")
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
