package accesslog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Traffic is what a log shows.
type Traffic struct {
	Lines   int     `json:"lines"`   // that are not empty
	Used    int     `json:"used"`    // requests of the mix
	Skipped []Count `json:"skipped"` // lines and requests, by reason, most first
	Hosts   []Count `json:"hosts"`   // of the requests of the mix, most first
	Routes  []Route `json:"routes"`  // of the mix, most first
	// Arrivals are those of all requests with a time, whatever their method and status; nil: no
	// request has one.
	Arrivals *Arrivals `json:"arrivals,omitempty"`
}

// Count is how often something was seen.
type Count struct {
	What  string `json:"what"`
	Count int    `json:"count"`
}

// Route is a kind of request: "GET /users/{id}".
type Route struct {
	Route    string  `json:"route"`
	Count    int     `json:"count"`
	Distinct int     `json:"distinct"` // paths; those beyond mostPaths are not distinguished
	Examples []Count `json:"-"`        // paths with their query, most first
}

// Arrivals are when requests came.
type Arrivals struct {
	Requests int       `json:"requests"`
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
	// Mean is the rate from the first to the last, and the others are those of the busiest
	// minute and second, in requests per second.
	Mean          float64 `json:"mean_rps"`
	BusiestMinute float64 `json:"busiest_minute_rps"`
	BusiestSecond float64 `json:"busiest_second_rps"`
	// Dispersion is the variance of the requests per second in the busiest hour divided by their
	// mean: 1 of arrivals at random (Poisson), above of bursts, or of a rate that changes within
	// the hour; 0: the log covers no minute, or has fewer than 100 requests in it.
	Dispersion float64 `json:"dispersion"`
	Hours      []Hour  `json:"hours"`
	// ZoneUnknown: a time of the log has no zone, as HAProxy's local ones, and is read as UTC.
	ZoneUnknown bool `json:"zone_unknown,omitempty"`
}

// Hour is one hour; those without requests are left out.
type Hour struct {
	Start    time.Time `json:"start"`
	Requests int       `json:"requests"`
}

const (
	// mostPaths of a route, and mostRoutes, are distinguished.
	mostPaths, mostRoutes = 10_000, 10_000
	reasonRoutes          = "of a route beyond the first 10,000"
)

// routes collects requests by route.
type collector struct {
	routes  map[string]*paths
	hosts   map[string]int
	seconds map[int64]int // since 1970
	skipped map[string]int
	local   bool // a time has no zone
}

type paths struct {
	method string
	count  int
	of     map[string]int
}

// Of reads a log. The error is that of reading it, or of one without a request.
func Of(r io.Reader) (*Traffic, error) {
	c := &collector{routes: map[string]*paths{}, hosts: map[string]int{}, seconds: map[int64]int{}, skipped: map[string]int{}}
	lines, skipped, err := Read(r, c.add)
	if err != nil {
		return nil, err
	}
	maps.Copy(c.skipped, skipped)
	t := &Traffic{Lines: lines, Skipped: most(c.skipped), Hosts: most(c.hosts), Arrivals: arrivals(c.seconds)}
	for name, p := range c.routes {
		t.Used += p.count
		t.Routes = append(t.Routes, Route{Route: name, Count: p.count, Distinct: len(p.of), Examples: most(p.of)})
	}
	if t.Arrivals != nil {
		t.Arrivals.ZoneUnknown = c.local
	}
	slices.SortFunc(t.Routes, func(a, b Route) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Route, b.Route)) })
	if lines == 0 {
		return t, errors.New("it is empty")
	}
	if t.Used == 0 {
		return t, fmt.Errorf("no request can be repeated: %s", t.Left())
	}
	return t, nil
}

// Left says what of the log was left out: "3 of 9 lines: …".
func (t *Traffic) Left() string { return leftOut(t.Lines, t.Skipped) }

func leftOut(lines int, skipped []Count) string {
	left := 0
	text := ""
	for _, s := range skipped {
		left += s.Count
		text += fmt.Sprintf(", %d %s", s.Count, s.What)
	}
	if left == 0 {
		return fmt.Sprintf("all %d lines are used", lines)
	}
	return fmt.Sprintf("%d of %d lines are left out%s", left, lines, text)
}

// add takes a request. A log has no bodies, so methods that have one are counted only as
// arrivals, and so are requests that failed: they would again.
func (c *collector) add(e Entry) {
	if !e.Time.IsZero() {
		c.seconds[e.Time.Unix()]++
		c.local = c.local || e.Time.Location() == zoneless
	}
	why := whyBody(e.Method)
	good := e.Status == 0 || e.Status >= 200 && e.Status < 300 || e.Status == 304
	switch {
	case why != "":
		c.skipped[why]++
		return
	case !good:
		c.skipped[fmt.Sprintf("answered with status %d", e.Status)]++
		return
	}
	name := e.Route()
	p := c.routes[name]
	if p == nil {
		if len(c.routes) >= mostRoutes {
			c.skipped[reasonRoutes]++
			return
		}
		p = &paths{method: e.Method, of: map[string]int{}}
		c.routes[name] = p
	}
	if p.count++; e.Host != "" {
		c.hosts[strings.ToLower(e.Host)]++
	}
	if _, known := p.of[e.Path]; known || len(p.of) < mostPaths {
		p.of[e.Path]++
	}
}

// most sorts counts, the highest first.
func most(counts map[string]int) []Count {
	all := []Count{}
	for what, n := range counts {
		all = append(all, Count{what, n})
	}
	slices.SortFunc(all, func(a, b Count) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.What, b.What)) })
	return all
}

// arrivals sums requests by second.
func arrivals(seconds map[int64]int) *Arrivals {
	if len(seconds) == 0 {
		return nil
	}
	a := &Arrivals{}
	minutes, hours := map[int64]int{}, map[int64]int{}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for at, n := range seconds {
		first, last = min(first, at), max(last, at)
		minutes[at/60] += n
		hours[at/3600] += n
		a.Requests += n
		a.BusiestSecond = max(a.BusiestSecond, float64(n))
	}
	length := last - first + 1
	a.First, a.Last = time.Unix(first, 0).UTC(), time.Unix(last, 0).UTC()
	a.Mean = float64(a.Requests) / float64(length)
	for _, n := range minutes {
		a.BusiestMinute = max(a.BusiestMinute, float64(n)/float64(min(60, length)))
	}
	busiest := int64(0)
	for _, at := range slices.Sorted(maps.Keys(hours)) {
		a.Hours = append(a.Hours, Hour{time.Unix(at*3600, 0).UTC(), hours[at]})
		if hours[at] > hours[busiest] {
			busiest = at
		}
	}
	a.Dispersion = dispersion(seconds, max(first, busiest*3600), min(last, busiest*3600+3599))
	return a
}

// dispersion is the variance of the counts per second from one second to another, divided by
// their mean; 0 of less than a minute or of few requests, which show neither.
func dispersion(seconds map[int64]int, from, to int64) float64 {
	n := float64(to - from + 1)
	if n < 60 {
		return 0
	}
	sum, squares := 0.0, 0.0
	for at, count := range seconds {
		if at >= from && at <= to {
			sum, squares = sum+float64(count), squares+float64(count)*float64(count)
		}
	}
	const enough = 100 // requests, of which the index is known to 0.2
	if sum < enough {
		return 0
	}
	mean := sum / n
	return (squares/n - mean*mean) / mean
}

// Request is one of the mix that repeats a log.
type Request struct {
	Name   string `json:"name"` // its route, by which it is counted
	Weight int    `json:"weight"`
	Method string `json:"method,omitempty"` // "": GET
	Path   string `json:"path"`
}

// Mix are the requests of the log in proportion to their counts: of each route at most so many
// paths, the most frequent ones, which together have the weight of the whole route.
func (t *Traffic) Mix(paths int) (all []Request) {
	// A route of a few requests and many paths would get fractions; the weights of all are
	// multiplied so that one request of the log is worth so much.
	const each = 100
	for _, r := range t.Routes {
		shown := r.Examples[:min(paths, len(r.Examples))]
		sum := 0
		for _, e := range shown {
			sum += e.Count
		}
		method, _ := methodOf(r.Route)
		for _, e := range shown {
			weight := max(1, int(math.Round(each*float64(r.Count)*float64(e.Count)/float64(sum))))
			all = append(all, Request{Name: r.Route, Weight: weight, Method: method, Path: e.What})
		}
	}
	return reduced(all)
}

func methodOf(route string) (method, path string) {
	for i := range route {
		if route[i] == ' ' {
			method, path = route[:i], route[i+1:]
			break
		}
	}
	if method == "GET" {
		method = ""
	}
	return method, path
}

// reduced divides the weights by what all have in common.
func reduced(all []Request) []Request {
	common := 0
	for _, r := range all {
		a, b := common, r.Weight
		for b != 0 {
			a, b = b, a%b
		}
		common = a
	}
	for i := range all {
		all[i].Weight /= max(1, common)
	}
	return all
}
